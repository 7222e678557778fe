"""Writes the held-out problem lists that the benches and the evaluation read.

    python -m training.problem_files --out models/problems

test.jsonl            unseen numbers and names, for reported results only
test-sentences.jsonl  unseen sentences as well, for reported results only
validation.jsonl      unseen numbers and names, other problems; for choosing thresholds and budgets
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from pathlib import Path

from training.generator import problem_list
from training.problem import Problem, Split

TEST_SEED = 20261
VALIDATION_SEED = 20262
TEST_COUNT = 400
VALIDATION_COUNT = 200


def held_out_lists() -> dict[str, list[Problem]]:
    """The three lists by file stem; no (kind, numbers) occurs in more than one of them."""
    test = problem_list(TEST_COUNT, "numbers", TEST_SEED)
    sentences = problem_list(TEST_COUNT, "sentences", TEST_SEED, exclude=test)
    validation = problem_list(VALIDATION_COUNT, "numbers", VALIDATION_SEED, exclude=[*test, *sentences])
    return {"test": test, "test-sentences": sentences, "validation": validation}


def problems_to_choose_by(count: int, split: Split, seed: int) -> list[Problem]:
    """`count` problems of a held-out split, none with the (kind, numbers) of a shipped test problem.

    The held-out numbers are few enough that a seed alone would draw many of them again.
    """
    lists = held_out_lists()
    return problem_list(count, split, seed, exclude=[*lists["test"], *lists["test-sentences"]])


def write_jsonl(path: Path, stem: str, problems: Iterable[Problem]) -> None:
    """One object per line: id, question, answer, kind."""
    with path.open("w", encoding="utf-8") as file:
        for index, problem in enumerate(problems):
            row = {
                "id": f"{stem}-{index:04d}",
                "question": problem.question,
                "answer": problem.answer,
                "kind": problem.kind,
            }
            file.write(json.dumps(row) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    for stem, problems in held_out_lists().items():
        write_jsonl(args.out / f"{stem}.jsonl", stem, problems)
        print(f"{stem}: {len(problems)} problems")


if __name__ == "__main__":
    main()
