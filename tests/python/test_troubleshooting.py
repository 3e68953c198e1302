# SPDX-License-Identifier: Apache-2.0
"""What doctor and errors name stands in docs/troubleshooting.md."""

from __future__ import annotations

import json
import pickle
import re
import traceback

import pytest
from conftest import ROOT, Command

import corymb
from corymb import troubleshooting

# Lines of doctor that nothing can be done about.
WITHOUT_HELP = {"umwait", "perf events", "namespaces"}


def test_every_heading_exists() -> None:
    page = (ROOT / troubleshooting.PAGE).read_text(encoding="utf-8")
    titles = re.findall(r"^#+ (.*)$", page, re.M)
    headings = {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}
    named = {
        *troubleshooting.OF_PERMISSIONS.values(),
        *troubleshooting.OF_CODES.values(),
        troubleshooting.LIMITS,
        troubleshooting.MPI,
        troubleshooting.PYTHON,
    }
    assert named <= headings


def test_every_line_of_doctor_is_explained(corymb_command: Command) -> None:
    rows = json.loads(corymb_command("doctor", "--json", "-").stdout)["permissions"]
    names = {row["name"] for row in rows}
    assert names == set(troubleshooting.OF_PERMISSIONS) | WITHOUT_HELP
    page = (ROOT / troubleshooting.PAGE).read_text(encoding="utf-8")
    for row in rows:
        assert f"`{row['name']}`" in page
        heading = troubleshooting.OF_PERMISSIONS.get(row["name"])
        wanted = None if row["available"] or heading is None else troubleshooting.place(heading)
        assert row["help"] == wanted, row


def test_an_error_names_its_heading_in_a_traceback() -> None:
    with pytest.raises(corymb.Error) as caught:
        corymb.Machine.from_json("{}")
    error = caught.value
    assert (error.code, error.heading) == ("invalid_model", "models")
    place = "docs/troubleshooting.md#models"
    assert place not in str(error)
    if hasattr(error, "__notes__"):
        assert place in "".join(traceback.format_exception(error))
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.code, again.heading) == (str(error), error.code, "models")


def fail(team: corymb.Team) -> None:
    raise corymb.Error("late", "timeout", [0])


def test_the_failure_of_a_rank_leaves_the_heading_to_its_cause() -> None:
    with pytest.raises(corymb.RankError) as caught:
        corymb.run(fail, 1, threads=True)
    assert caught.value.heading is None
    assert isinstance(caught.value.__cause__, corymb.Error)
    assert caught.value.__cause__.heading == "a-rank-is-late"


def test_a_callers_mistake_has_no_heading() -> None:
    with pytest.raises(corymb.Error) as caught:
        corymb.Machine.gallery("nowhere")
    assert caught.value.heading is None


def test_the_command_names_the_heading(corymb_command: Command) -> None:
    run = corymb_command("mpirun", "-n", "2", "/bin/true")
    assert run.returncode == 2
    assert run.stderr.endswith(" (docs/troubleshooting.md#mpi-programs)\n"), run.stderr
    assert run.stderr.count("\n") == 1
