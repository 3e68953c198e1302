# SPDX-License-Identifier: Apache-2.0
"""One self-contained HTML page out of sections; plotly's script is embedded once."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass, field

import plotly.graph_objects as go
from plotly.offline import get_plotlyjs

from corymb.picture.style import FONT

CONFIG = {
    "displaylogo": False,
    "responsive": True,
    "displayModeBar": False,
}

CSS = """
:root { color-scheme: light; }
* { box-sizing: border-box; }
body { margin: 0; background: #f0f3f6; color: #1f2933; font: 15px/1.5 FONT; }
main { max-width: 1120px; margin: 0 auto; padding: 24px 20px 48px; }
h1 { font-size: 26px; line-height: 1.2; margin: 0 0 4px; overflow-wrap: anywhere; }
h2 { font-size: 18px; margin: 0 0 2px; }
p { margin: 0 0 8px; }
.lead { color: #52606d; margin-bottom: 18px; }
section { background: white; border: 1px solid #dfe4ea; border-radius: 8px;
          padding: 16px 18px 8px; margin: 0 0 18px; }
.caption { color: #52606d; font-size: 14px; max-width: 80ch; }
.badge { display: inline-block; font-size: 12px; font-weight: 600; border-radius: 4px;
         padding: 1px 7px; margin-left: 8px; vertical-align: 2px; }
.simulated { background: #fff3d6; color: #7a4b00; }
.measured { background: #d9f0e6; color: #00563b; }
table { border-collapse: collapse; width: 100%; margin: 8px 0 12px; font-size: 14px; }
th { text-align: left; font-weight: 600; color: #52606d; border-bottom: 2px solid #dfe4ea; }
th, td { padding: 5px 12px 5px 0; vertical-align: top; overflow-wrap: anywhere; }
td { border-bottom: 1px solid #edf0f3; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
footer { color: #52606d; font-size: 13px; overflow-wrap: anywhere; }
.figure { width: 100%; overflow: hidden; }
@media print {
  @page { size: A4; margin: 12mm; }
  body { background: white; font-size: 12px; }
  main { max-width: none; padding: 0; }
  section { border: none; padding: 0; margin-bottom: 14px; break-inside: avoid; }
  .modebar { display: none !important; }
}
""".replace("FONT", FONT)

# Charts keep the width that they had on the screen unless they are told about the paper.
SCRIPT = """
const charts = () => document.querySelectorAll('.js-plotly-plot');
window.addEventListener('beforeprint', () => charts().forEach(
  chart => Plotly.relayout(chart, {width: 690, autosize: false})));
window.addEventListener('afterprint', () => charts().forEach(
  chart => Plotly.relayout(chart, {width: null, autosize: true})));
"""


@dataclass(frozen=True)
class Cell:
    """A table cell; numbers are right-aligned."""

    text: str
    number: bool = False


@dataclass
class Section:
    """One box of the page. `kind` is "simulated", "measured" or nothing."""

    title: str
    caption: str = ""
    kind: str = ""
    figures: list[go.Figure] = field(default_factory=list)
    header: Sequence[Cell] = ()
    rows: Sequence[Sequence[Cell]] = ()


def build(title: str, lead: str, sections: Sequence[Section], footer: str) -> str:
    """The whole page. All texts are escaped here."""
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        # An empty icon keeps browsers from asking a server for one.
        '<link rel="icon" href="data:,">',
        f"<title>{html.escape(title)}</title>",
        f"<style>{CSS}</style>",
        f"<script>{get_plotlyjs()}</script>",
        "</head><body><main>",
        f"<h1>{html.escape(title)}</h1>",
        f'<p class="lead">{html.escape(lead)}</p>',
    ]
    number = 0
    for section in sections:
        parts.append(_section(section, number))
        number += len(section.figures)
    parts.append(f"<footer>{html.escape(footer)}</footer>")
    parts.append(f"</main><script>{SCRIPT}</script></body></html>\n")
    return "\n".join(parts)


def _section(section: Section, first_figure: int) -> str:
    badge = f'<span class="badge {section.kind}">{section.kind}</span>' if section.kind else ""
    parts = [f"<section><h2>{html.escape(section.title)}{badge}</h2>"]
    if section.caption:
        parts.append(f'<p class="caption">{html.escape(section.caption)}</p>')
    if section.rows:
        parts.append(_table(section))
    for index, figure in enumerate(section.figures):
        parts.append('<div class="figure">')
        parts.append(
            figure.to_html(
                full_html=False,
                include_plotlyjs=False,
                config=CONFIG,
                div_id=f"figure-{first_figure + index}",
            )
        )
        parts.append("</div>")
    parts.append("</section>")
    return "\n".join(parts)


def _table(section: Section) -> str:
    lines = ["<table>"]
    if section.header:
        lines.append("<tr>" + "".join(_cell("th", cell) for cell in section.header) + "</tr>")
    for row in section.rows:
        lines.append("<tr>" + "".join(_cell("td", cell) for cell in row) + "</tr>")
    lines.append("</table>")
    return "".join(lines)


def _cell(tag: str, cell: Cell) -> str:
    attribute = ' class="number"' if cell.number else ""
    return f"<{tag}{attribute}>{html.escape(cell.text)}</{tag}>"
