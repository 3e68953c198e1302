# SPDX-License-Identifier: Apache-2.0
"""What all plotly figures have in common."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go

from corymb.picture.palette import INK, PALE, VIRIDIS

FONT = "Inter, 'Segoe UI', 'Helvetica Neue', 'DejaVu Sans', Arial, sans-serif"
COLOR_SCALE = [
    [index / (len(VIRIDIS) - 1), "rgb({},{},{})".format(*rgb)] for index, rgb in enumerate(VIRIDIS)
]


def styled(figure: go.Figure, height: int, **layout: Any) -> go.Figure:
    """Applies the common look; `layout` wins over it."""
    common: dict[str, Any] = {
        "height": height,
        "font": {"family": FONT, "size": 13, "color": INK},
        "paper_bgcolor": "white",
        "plot_bgcolor": "white",
        "margin": {"l": 60, "r": 20, "t": 30, "b": 50},
        "hoverlabel": {"font": {"family": FONT, "size": 12}},
        "legend": {"orientation": "h", "yanchor": "bottom", "y": 1.0, "x": 0, "xanchor": "left"},
    }
    figure.update_layout(**(common | layout))
    figure.update_xaxes(gridcolor=PALE, linecolor=PALE, zerolinecolor=PALE, automargin=True)
    figure.update_yaxes(gridcolor=PALE, linecolor=PALE, zerolinecolor=PALE, automargin=True)
    return figure


def plain(text: str) -> str:
    """Text for plotly, which reads some HTML in labels."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
