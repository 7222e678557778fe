"""Replays the golden vectors of training through the functions that training uses.

    python -m training.routers.golden test/fixtures/golden/routing-vectors.json

Needs the standard library only. One line per vector; exit code 1 if one of them fails or none is found.
"""

from __future__ import annotations

import argparse
import importlib
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

RULES = {"r2r": "r2r", "citer": "citer", "co-llm": "co_llm"}
KINDS = ("labels", "loss", "calibration")
DEFAULT_TOLERANCE = 1e-9


def differences(expected: Any, found: Any, tolerance: float, where: str = "") -> Iterator[str]:
    """Every place where two JSON values differ by more than the tolerance, in words."""
    if isinstance(expected, dict) and isinstance(found, dict):
        for key in expected.keys() | found.keys():
            yield from differences(expected.get(key), found.get(key), tolerance, f"{where}.{key}")
    elif isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        for index, pair in enumerate(zip(expected, found, strict=True)):
            yield from differences(*pair, tolerance, f"{where}[{index}]")
    elif _is_number(expected) and _is_number(found):
        if not math.isclose(expected, found, rel_tol=0, abs_tol=tolerance):
            yield f"{where[1:]}: expected {expected}, found {found}"
    elif type(expected) is not type(found) or expected != found:
        yield f"{where[1:]}: expected {expected!r}, found {found!r}"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def replay(vector: dict[str, Any]) -> list[str]:
    """What is wrong with a vector; empty if nothing is."""
    algorithm, kind = vector["algorithm"], vector["kind"]
    rules = importlib.import_module(f"training.routers.rules.{RULES[algorithm]}")
    function = rules.REPLAYS.get(kind)
    if function is None:
        return [f"nothing replays {kind} of {algorithm}"]
    return list(
        differences(vector["expected"], function(vector["input"]), vector.get("tolerance", DEFAULT_TOLERANCE))
    )


def training_vectors(path: Path) -> list[dict[str, Any]]:
    """The file's vectors that are about training."""
    vectors = json.loads(path.read_text(encoding="utf-8")).get("vectors", [])
    return [vector for vector in vectors if vector["kind"] in KINDS and vector["algorithm"] in RULES]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("file", type=Path)
    vectors = training_vectors(parser.parse_args(arguments).file)
    failed = 0
    for vector in vectors:
        problems = replay(vector)
        failed += bool(problems)
        print(f"{'FAILED' if problems else 'ok'} {vector['id']}{''.join(f'; {text}' for text in problems)}")
    print(f"{len(vectors)} vectors, {failed} failed")
    return 1 if failed or not vectors else 0


if __name__ == "__main__":
    raise SystemExit(main())
