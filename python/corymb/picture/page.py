# SPDX-License-Identifier: Apache-2.0
"""One self-contained HTML page out of sections; its pictures are SVG, and it has no script."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass, field

from corymb.picture.svg import FONT, Figure

CSS = """
:root { color-scheme: light dark; --page: #f0f3f6; --paper: #ffffff; --ink: #1f2933;
        --soft: #52606d; --grey: #7b8794; --pale: #e4e7eb; --edge: #b3bdc8; --blue: #0072b2;
        --box0: #f5f7fa; --box1: #e9edf2; --box2: #dde3ea; --said: #7a4b00; --true: #00563b;
        --said-back: #fff3d6; --true-back: #d9f0e6; }
@media screen and (prefers-color-scheme: dark) {
  :root { --page: #12171d; --paper: #1b222b; --ink: #e4e9ee; --soft: #aab6c2; --grey: #8a97a5;
          --pale: #36414d; --edge: #566473; --blue: #4ba3e3; --box0: #222b35; --box1: #2a3540;
          --box2: #33404d; --said: #ffd98a; --said-back: #4a3710; --true: #8fe0bf;
          --true-back: #123f30; }
}
* { box-sizing: border-box; }
html { scroll-padding-top: 48px; }
body { margin: 0; background: var(--page); color: var(--ink); font: 15px/1.5 FONT; }
nav { position: sticky; top: 0; z-index: 1; background: var(--paper); overflow-x: auto;
      border-bottom: 1px solid var(--pale); white-space: nowrap; padding: 8px 16px; }
nav a { color: var(--soft); text-decoration: none; font-size: 14px; margin-right: 18px; }
nav a:hover, nav a:focus { color: var(--blue); text-decoration: underline; }
main { max-width: 1040px; margin: 0 auto; padding: 24px 20px 48px; }
h1 { font-size: 26px; line-height: 1.2; margin: 0 0 4px; overflow-wrap: anywhere; }
h2 { font-size: 18px; margin: 0 0 2px; }
p { margin: 0 0 8px; }
.lead { color: var(--soft); margin-bottom: 18px; }
section { background: var(--paper); border: 1px solid var(--pale); border-radius: 8px;
          padding: 16px 18px 8px; margin: 0 0 18px; }
.caption { color: var(--soft); font-size: 14px; max-width: 80ch; }
.badge { display: inline-block; font-size: 12px; font-weight: 600; border-radius: 4px;
         padding: 1px 7px; margin-left: 8px; vertical-align: 2px; }
.simulated { background: var(--said-back); color: var(--said); }
.measured { background: var(--true-back); color: var(--true); }
.rows { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; margin: 8px 0 12px; font-size: 14px; }
th { text-align: left; font-weight: 600; color: var(--soft); border-bottom: 2px solid var(--pale); }
th, td { padding: 5px 12px 5px 0; vertical-align: top; }
td { border-bottom: 1px solid var(--pale); }
.number { text-align: right; font-variant-numeric: tabular-nums; }
td.number { white-space: nowrap; }
footer { color: var(--soft); font-size: 13px; overflow-wrap: anywhere; }
.figure { margin: 0 0 12px; }
.legend { font-size: 13px; color: var(--soft); margin: 4px 0; }
.entry { display: inline-block; margin-right: 16px; }
.key { vertical-align: -1px; margin-right: 5px; }
.pictures { display: flex; flex-wrap: wrap; gap: 8px; }
.pictures svg { max-width: 100%; height: auto; font-family: FONT; }
.pictures path { stroke-linecap: round; }
.narrow { display: none; }
@media screen and (max-width: 640px) {
  main { padding: 16px 8px 32px; }
  section { padding: 12px 12px 4px; }
  .wide { display: none; }
  .narrow { display: block; }
  tr.head { display: none; }
  table, tbody, tr, td, td.number { display: block; text-align: left; white-space: normal; }
  tr { border-bottom: 2px solid var(--pale); padding: 4px 0; }
  td { border: none; padding: 1px 0; overflow-wrap: anywhere; }
  td[data-head]:before { content: attr(data-head) ": "; color: var(--soft); }
}
@media print {
  @page { size: A4; margin: 12mm; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  body { background: white; font-size: 12px; }
  nav { display: none; }
  main { max-width: none; padding: 0; }
  section { border: none; padding: 0; margin-bottom: 14px; }
  svg, tr { break-inside: avoid; }
  h2, .caption { break-after: avoid; }
}
""".replace("FONT", FONT)


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
    figures: list[Figure] = field(default_factory=list)
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
        "</head><body>",
        _contents(sections),
        "<main>",
        f"<h1>{html.escape(title)}</h1>",
        f'<p class="lead">{html.escape(lead)}</p>',
    ]
    figures = 0
    for place, section in enumerate(sections):
        parts.append(_section(section, place, figures))
        figures += len(section.figures)
    parts.append(f"<footer>{html.escape(footer)}</footer>")
    parts.append("</main></body></html>\n")
    return "\n".join(parts)


def _contents(sections: Sequence[Section]) -> str:
    """A bar with a link to each section, if there are several."""
    if len(sections) < 2:
        return ""
    links = [
        f'<a href="#part-{place}">{html.escape(section.title)}</a>'
        for place, section in enumerate(sections)
    ]
    return "<nav>" + "".join(links) + "</nav>"


def _section(section: Section, place: int, first_figure: int) -> str:
    badge = f'<span class="badge {section.kind}">{section.kind}</span>' if section.kind else ""
    parts = [f'<section id="part-{place}"><h2>{html.escape(section.title)}{badge}</h2>']
    if section.caption:
        parts.append(f'<p class="caption">{html.escape(section.caption)}</p>')
    if section.rows:
        parts.append(_table(section))
    for index, figure in enumerate(section.figures):
        parts.append(
            f'<div class="figure" id="figure-{first_figure + index}">{figure.html()}</div>'
        )
    parts.append("</section>")
    return "\n".join(parts)


def _table(section: Section) -> str:
    lines = ['<div class="rows"><table>']
    if section.header:
        titles = "".join(_cell("th", cell, "") for cell in section.header)
        lines.append(f'<tr class="head">{titles}</tr>')
    names = [cell.text for cell in section.header]
    for row in section.rows:
        heads = names if len(names) == len(row) and len(row) > 1 else [""] * len(row)
        cells = [_cell("td", cell, head) for cell, head in zip(row, heads, strict=True)]
        lines.append("<tr>" + "".join(cells) + "</tr>")
    lines.append("</table></div>")
    return "".join(lines)


def _cell(tag: str, cell: Cell, head: str) -> str:
    """`head` is shown before the text where the screen is too narrow for columns."""
    attributes = ' class="number"' if cell.number else ""
    if head:
        attributes += f' data-head="{html.escape(head, quote=True)}"'
    return f"<{tag}{attributes}>{html.escape(cell.text)}</{tag}>"
