# SPDX-License-Identifier: Apache-2.0
"""Pictures as SVG text: marks with hover titles, in colours that follow the page's scheme."""

from __future__ import annotations

import base64
import html
import struct
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from corymb.picture import palette

FONT = "Inter, 'Segoe UI', 'Helvetica Neue', 'DejaVu Sans', Arial, sans-serif"
WIDE = 960  # pixels of a picture that takes the page's width
NARROW = 350  # pixels of the same picture on a telephone
LETTER = 0.58  # mean width of a letter over the size of its font
# Colours that the page defines for both schemes.
THEME = {
    palette.BLUE: "var(--blue)",
    palette.INK: "var(--ink)",
    palette.GREY: "var(--grey)",
    palette.PALE: "var(--pale)",
}


def number(value: float) -> str:
    """At most one digit after the point: a tenth of a pixel is not seen."""
    return f"{value:.1f}".removesuffix(".0")


def colour(name: str) -> str:
    return THEME.get(name, name)


class Canvas:
    """The marks of one picture, in pixels from the upper left. Later marks hide earlier ones."""

    def __init__(self, width: float, height: float) -> None:
        self.width, self.height = width, height
        self._marks: list[str] = []

    def rect(
        self, x: float, y: float, width: float, height: float, fill: str, *, title: str = "",
        line: str = "none", radius: float = 0, opacity: float = 1, line_width: float = 1,
    ) -> None:  # fmt: skip
        place = (
            f'x="{number(x)}" y="{number(y)}" width="{number(max(width, 0.3))}" '
            f'height="{number(max(height, 0.3))}"'
        )
        rounded = f' rx="{radius:g}"' if radius else ""
        self._mark("rect", place + rounded, fill, line, line_width, opacity, title)

    def circle(
        self, x: float, y: float, radius: float, fill: str, *, title: str = "", line: str = "none",
        line_width: float = 1, opacity: float = 1,
    ) -> None:  # fmt: skip
        place = f'cx="{number(x)}" cy="{number(y)}" r="{number(radius)}"'
        self._mark("circle", place, fill, line, line_width, opacity, title)

    def path(
        self, steps: str, *, fill: str = "none", line: str = "none", line_width: float = 1,
        opacity: float = 1, dash: str = "", title: str = "",
    ) -> None:  # fmt: skip
        place = f'd="{steps}"' + (f' stroke-dasharray="{dash}"' if dash else "")
        self._mark("path", place, fill, line, line_width, opacity, title)

    def line(
        self, x0: float, y0: float, x1: float, y1: float, line: str, line_width: float = 1
    ) -> None:
        steps = f"M{number(x0)} {number(y0)}L{number(x1)} {number(y1)}"
        self.path(steps, line=line, line_width=line_width)

    def text(
        self, x: float, y: float, text: str, *, size: float = 12, anchor: str = "middle",
        fill: str = "var(--soft)", turn: float = 0, bold: bool = False,
    ) -> None:  # fmt: skip
        turned = f' transform="rotate({turn:g} {number(x)} {number(y)})"' if turn else ""
        weight = ";font-weight:600" if bold else ""
        self._marks.append(
            f'<text x="{number(x)}" y="{number(y)}" text-anchor="{anchor}"{turned} '
            f'style="font-size:{size:g}px;fill:{colour(fill)}{weight}">{html.escape(text)}</text>'
        )

    def image(self, x: float, y: float, width: float, height: float, png: bytes) -> None:
        """A raster; its pixels stay squares."""
        text = base64.b64encode(png).decode()
        self._marks.append(
            f'<image x="{number(x)}" y="{number(y)}" width="{number(width)}" '
            f'height="{number(height)}" preserveAspectRatio="none" '
            f'style="image-rendering:pixelated" href="data:image/png;base64,{text}"/>'
        )

    def _mark(
        self, tag: str, place: str, fill: str, line: str, line_width: float, opacity: float,
        title: str,
    ) -> None:  # fmt: skip
        style = f"fill:{colour(fill)}"
        if line != "none":
            style += f";stroke:{colour(line)};stroke-width:{line_width:g}"
        if opacity != 1:
            style += f";opacity:{opacity:g}"
        inside = f"<title>{html.escape(title)}</title>" if title else ""
        self._marks.append(f'<{tag} {place} style="{style}">{inside}</{tag}>')

    def svg(self, label: str, kind: str) -> str:
        """The element; `label` is what a screen reader says."""
        return (
            f'<svg class="{kind}" role="img" aria-label="{html.escape(label, quote=True)}" '
            f'viewBox="0 0 {number(self.width)} {number(self.height)}" '
            f'width="{number(self.width)}" height="{number(self.height)}">'
            + "".join(self._marks)
            + "</svg>"
        )


@dataclass(frozen=True)
class Picture:
    """A picture that can be drawn at any width in pixels. A wide one is drawn twice: the page shows
    what fits the screen. Others stand beside each other as far as there is room."""

    label: str
    draw: Callable[[float], Canvas]
    width: float = WIDE

    def svg(self) -> str:
        if self.width <= WIDE / 2:
            return self.draw(self.width).svg(self.label, "panel")
        wide = self.draw(self.width).svg(self.label, "wide")
        return wide + self.draw(NARROW).svg(self.label, "narrow")


@dataclass(frozen=True)
class Key:
    """A line of a legend."""

    name: str
    fill: str
    symbol: str = "bar"  # or a name of axes.SYMBOLS, or "line"
    dash: str = ""

    def html(self) -> str:
        canvas = Canvas(22, 12)
        if self.symbol == "bar":
            canvas.rect(4, 1, 12, 10, self.fill, radius=2)
        else:
            canvas.path("M1 6L21 6", line=self.fill, line_width=2, dash=self.dash)
            symbol(canvas, self.symbol, 11, 6, 4, self.fill)
        drawn = canvas.svg(self.name, "key")
        return f'<span class="entry">{drawn}{html.escape(self.name)}</span>'


@dataclass(frozen=True)
class Figure:
    """Pictures that belong together, under one legend."""

    pictures: Sequence[Picture]
    keys: Sequence[Key] = field(default=())

    def html(self) -> str:
        keys = "".join(key.html() for key in self.keys)
        legend = f'<div class="legend">{keys}</div>' if keys else ""
        drawn = "".join(picture.svg() for picture in self.pictures)
        return f'{legend}<div class="pictures">{drawn}</div>'


SYMBOLS = ("circle", "square", "diamond", "triangle", "cross", "plus")


def symbol(
    canvas: Canvas, name: str, x: float, y: float, radius: float, fill: str, title: str = ""
) -> None:
    """One of SYMBOLS; another name draws nothing."""
    r = radius
    shapes = {
        "square": f"M{-r} {-r}H{r}V{r}H{-r}Z",
        "diamond": f"M0 {-1.3 * r:g}L{1.3 * r:g} 0L0 {1.3 * r:g}L{-1.3 * r:g} 0Z",
        "triangle": f"M0 {-1.2 * r:g}L{1.2 * r:g} {r}H{-1.2 * r:g}Z",
        "cross": f"M{-r} {-r}L{r} {r}M{-r} {r}L{r} {-r}",
        "plus": f"M0 {-1.2 * r:g}V{1.2 * r:g}M{-1.2 * r:g} 0H{1.2 * r:g}",
    }
    if name == "circle":
        canvas.circle(x, y, radius, fill, title=title)
    elif name in shapes:
        steps = f"M{number(x)} {number(y)}" + relative(shapes[name], x, y)
        outline = fill if name in {"cross", "plus"} else "none"
        canvas.path(steps, fill=fill, line=outline, line_width=2, title=title)


def relative(steps: str, x: float, y: float) -> str:
    """The steps of a path with their places moved by x and y."""
    moved: list[str] = []
    for letter, rest in _steps(steps):
        if letter == "Z":
            moved.append("Z")
        elif letter == "H":
            moved.append("H" + number(float(rest) + x))
        elif letter == "V":
            moved.append("V" + number(float(rest) + y))
        else:
            left, _, right = rest.partition(" ")
            moved.append(f"{letter}{number(float(left) + x)} {number(float(right) + y)}")
    return "".join(moved)


def _steps(steps: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for letter in steps:
        if letter.isalpha() and letter.isupper():
            found.append((letter, ""))
        else:
            found[-1] = (found[-1][0], found[-1][1] + letter)
    return found


def png(pixels: NDArray[np.uint8], colours: Sequence[tuple[int, int, int]]) -> bytes:
    """A PNG file of indexes into at most 255 colours; index 255 is transparent.

    Source: ISO/IEC 15948, colour type 3."""
    height, width = pixels.shape
    rows = np.zeros((height, width + 1), dtype=np.uint8)  # A row begins with its filter: none.
    rows[:, 1:] = pixels
    table = bytes(part for rgb in colours for part in rgb).ljust(256 * 3, b"\0")

    def chunk(kind: bytes, data: bytes) -> bytes:
        checked = kind + data
        return struct.pack(">I", len(data)) + checked + struct.pack(">I", zlib.crc32(checked))

    return b"".join(
        [
            b"\x89PNG\r\n\x1a\n",
            chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)),
            chunk(b"PLTE", table),
            chunk(b"tRNS", b"\xff" * 255 + b"\0"),
            chunk(b"IDAT", zlib.compress(rows.tobytes(), 9)),
            chunk(b"IEND", b""),
        ]
    )
