# SPDX-License-Identifier: Apache-2.0
"""The published schema of the model file accepts what the library writes, and little else."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import corymb

SCHEMA = Path(__file__).parent.parent.parent / "docs" / "schema" / "machine-1.schema.json"


@pytest.fixture(scope="module")
def validator() -> jsonschema.Draft202012Validator:
    schema = json.loads(SCHEMA.read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@pytest.mark.parametrize("name", corymb.gallery_names())
def test_gallery_models_are_valid(validator: jsonschema.Draft202012Validator, name: str) -> None:
    validator.validate(json.loads(corymb.Machine.gallery(name).to_json()))


def test_fields_of_the_sample_are_valid(validator: jsonschema.Draft202012Validator) -> None:
    """The seed of the fuzzer holds something in every field, which no gallery machine does."""
    seeds = SCHEMA.parents[2] / "tests" / "fuzz" / "corpus" / "machine_model_fuzz"
    for name in ("sample.json", "classes_only.json"):
        model = json.loads((seeds / name).read_text())
        assert model["shared_line"]
        assert model["memory"]
        assert name != "sample.json" or (model["transfer"] and model["shared"])
        validator.validate(model)


def _set(model: dict[str, Any], path: tuple[Any, ...], value: Any) -> dict[str, Any]:
    changed = copy.deepcopy(model)
    place: Any = changed
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return changed


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("schema",), "corymb-machine/2"),
        (("unit",), "seconds"),
        (("unit_ns",), 0),
        (("recieve",), []),
        (("topology", "pus"), []),
        (("topology", "pus", 0, "cpu"), -1),
        (("topology", "pus", 0, "core"), 1.5),
        (("classes", 0, "send", "median"), -3),
        (("classes", 0, "name"), ""),
        (("group", 0), None),
        (("send", 0, 1), -1),
        (("quality", "steal"), 2),
        (("fingerprint", "topology_sha256"), "abc"),
    ],
)
def test_schema_and_library_refuse_the_same(
    validator: jsonschema.Draft202012Validator, path: tuple[Any, ...], value: Any
) -> None:
    model = json.loads(corymb.Machine.gallery("ryzen-5950x-1s-32t").to_json())
    wrong = _set(model, path, value)
    assert not validator.is_valid(wrong)
    with pytest.raises(corymb.Error):
        corymb.Machine.from_json(json.dumps(wrong))
