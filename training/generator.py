"""Draws word problems of a split, and writes problem lists.

A (kind, numbers) tuple is held out when a checksum of it falls into one of twenty classes: training
never sees those 5 %, the held-out splits see nothing else. The rule needs no list and does not
depend on the seed, so any seed gives fresh held-out problems.

    python -m training.generator --split numbers --count 5 --seed 1
"""

from __future__ import annotations

import argparse
import json
import random
import zlib
from collections.abc import Iterable
from dataclasses import asdict

from training.kinds import KINDS
from training.problem import SPLITS, Problem, Split, Writer

MAX_ANSWER = 999

# How often each kind occurs in the held-out lists.
TEST_WEIGHTS = {
    "story1": 0.14,
    "story2": 0.22,
    "story3": 0.10,
    "groups": 0.13,
    "compare": 0.14,
    "diff": 0.07,
    "money": 0.08,
    "unit": 0.06,
    "work": 0.06,
}

# Training leans towards the kinds that are learnt last: long stories and pay problems.
TRAIN_WEIGHTS = {
    "story1": 0.10,
    "story2": 0.21,
    "story3": 0.20,
    "groups": 0.11,
    "compare": 0.11,
    "diff": 0.06,
    "money": 0.07,
    "unit": 0.05,
    "work": 0.09,
}


def is_held_out(kind: str, numbers: Iterable[int]) -> bool:
    """Whether training must never see these numbers in this kind."""
    return zlib.crc32(repr((kind, list(numbers))).encode()) % 20 == 0


def draw(rng: random.Random, split: Split) -> Problem:
    """One problem of the split."""
    weights = TRAIN_WEIGHTS if split == "train" else TEST_WEIGHTS
    while True:
        kind = rng.choices(list(weights), list(weights.values()))[0]
        writer = Writer(rng, split)
        answer = KINDS[kind](writer)
        if not 0 <= answer <= MAX_ANSWER:
            continue
        if is_held_out(kind, writer.numbers) == (split == "train"):
            continue
        lines = [*writer.steps, f"The answer is {answer}."]
        question = " ".join(writer.sentences)
        return Problem(kind, question, "\n".join(lines), answer, tuple(writer.numbers))


def problem_list(count: int, split: Split, seed: int, exclude: Iterable[Problem] = ()) -> list[Problem]:
    """`count` problems with different (kind, numbers); the same list for the same arguments.

    exclude: problems whose (kind, numbers) must not occur, to keep two lists apart.
    """
    rng = random.Random(f"{split}:{seed}")
    taken = {(problem.kind, problem.numbers) for problem in exclude}
    problems: list[Problem] = []
    while len(problems) < count:
        problem = draw(rng, split)
        key = (problem.kind, problem.numbers)
        if key not in taken:
            taken.add(key)
            problems.append(problem)
    return problems


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--split", choices=SPLITS, default="train")
    parser.add_argument("--count", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    for problem in problem_list(args.count, args.split, args.seed):
        print(json.dumps(asdict(problem)))


if __name__ == "__main__":
    main()
