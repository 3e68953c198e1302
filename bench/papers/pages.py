# SPDX-License-Identifier: Apache-2.0
"""All pages and plots as text, from the records alone: equal records give equal bytes."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import page_cheetah
import page_leaders
import page_messaging
import page_multicast
import page_smelt
import record
from table import Row, markdown, rows_table, wrapped

# A study makes a record; `here` has what is measured, for all pages.
STUDIES = ("smelt", "cheetah", "noise", "multicast", "messaging", "leaders", "here")
PAGES: dict[str, ModuleType] = {
    "smelt": page_smelt,
    "cheetah": page_cheetah,
    "multicast": page_multicast,
    "messaging": page_messaging,
    "leaders": page_leaders,
}
# Of PAGES: further records that a page is made from.
FURTHER = {
    "smelt": ("here",),
    "cheetah": ("noise", "here"),
    "multicast": ("here",),
    "messaging": ("here",),
}

Records = dict[str, record.Data]


def records(folder: Path = record.FOLDER) -> Records:
    return {name: record.load(name, folder) for name in STUDIES}


def rows(found: Records) -> dict[str, list[Row]]:
    return {name: page.rows_of(found) for name, page in PAGES.items()}


def files(folder: Path = record.FOLDER) -> dict[str, str]:
    """File names to texts."""
    found = records(folder)
    texts = {"README.md": _index(found)}
    for name, page in PAGES.items():
        charts = page.charts_of(found)
        texts[f"{name}.md"] = _page(name, page, found, charts)
        texts |= {file: text for file, (_, text) in charts.items()}
    return texts


def _page(name: str, page: ModuleType, found: Records, charts: dict[str, tuple[str, str]]) -> str:
    pictures = "\n\n".join(f"![{title}]({file})" for file, (title, _) in charts.items())
    sources = [name, *FURTHER.get(name, ())]
    made = " ".join(_made(found[one]) for one in sources)
    return f"""# {page.TITLE}

{wrapped(f"{page.SOURCE}. Each row is a figure or a number of the paper.")}
{wrapped(f"[How the rows came about](README.md), for all papers. {made}")}

{rows_table(page.rows_of(found))}

{pictures}

{page.body_of(found).rstrip()}
"""


def _made(one: record.Data) -> str:
    name = one["study"]
    return f"[{name}.json]({name}.json) is of {one['date']}, version {one['version']}."


def _index(found: Records) -> str:
    lines = []
    for name, own in rows(found).items():
        counts = [sum(row.agrees == word for row in own) for word in ("yes", "partly", "no", "-")]
        title = f"[{PAGES[name].TITLE}]({name}.md)"
        lines.append([title, str(len(own)), *map(str, counts)])
    table = markdown(["paper", "rows", "agrees", "partly", "no", "not compared"], lines)
    seconds = [
        [f"`{one['command']}`", str(one["seconds"]), one["date"], one["processor"]]
        for one in found.values()
    ]
    minutes = sum(one["seconds"] for one in found.values()) / 60
    return f"""# The papers' figures, repeated

corymb began with five papers. Their figures and numbers stand here beside corymb's own.

{table}

- *agrees*: corymb does at least as well as the row's claim, or shows the effect that it names.
- *partly*, *no*: the row has the reason below its table.
- *not compared*: the paper has no number, or corymb has nothing that the number is of.

## How to read a row

- **Simulated** times are those of a model. The row names it. A gain in a model is no proof of a
  gain on the machine. Most numbers of the papers were measured.
- **Measured** times are of a virtual machine with two CPUs. The row says how many ranks. They show
  directions, not how large machines behave. A *load* above the CPUs means that others had work,
  too. What has *real-time priority* (`chrt -r 10 make papers STUDIES=here`) does not wait for them.
- Many plots of the papers survive as pictures without numbers. The row then has the ends of the
  axis, or the words of the talk.

## What cannot be repeated

- The original machines. Where the gallery has a model of the same processor, the row names it.
- Network cards that carry out collectives by themselves (CORE-Direct). corymb has no such driver.
- Consensus and the key-value store on Smelt, and the patched OpenMP library: their sources are not
  public.
- The operating systems of the papers: Barrelfish, and the SCC without one.

## To repeat

`make papers` installs what is missing, simulates and measures everything, and writes these pages
and plots anew: {minutes:.0f} minutes on two CPUs. `STUDIES="smelt leaders"` repeats some.
`make results` only renders: the pages are made from the JSON files alone.

{markdown(["study", "seconds", "date", "processor"], seconds)}
"""
