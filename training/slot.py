"""One place for a sentence in a problem, with its variants, and the expansion of patterns.

A pattern may hold alternatives in square brackets: ``{A} [buys|finds] {b} [more |]{o}.`` Brackets do
not nest. Fields in braces are filled in by the problem kinds.
"""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass

_ALTERNATIVES = re.compile(r"\[([^\[\]]*)\]")


@dataclass(frozen=True)
class Slot:
    """Variants of one sentence.

    base: plain sentences, in training and in the held-out number problems.
    extra: patterns that only training uses, for variety of wording.
    held_out: sentences that training never sees, in the held-out sentence problems only.
    """

    base: tuple[str, ...]
    extra: tuple[str, ...]
    held_out: tuple[str, ...]


def pick(pattern: str, rng: random.Random) -> str:
    """The pattern with one alternative chosen at random in each bracket."""
    return _ALTERNATIVES.sub(lambda match: rng.choice(match.group(1).split("|")), pattern)


def expand(pattern: str) -> Iterator[str]:
    """Every sentence the pattern can give."""
    pieces = _ALTERNATIVES.split(pattern)
    # re.split with one group alternates between literal text and the text inside a bracket.
    choices = [[piece] if i % 2 == 0 else piece.split("|") for i, piece in enumerate(pieces)]
    for combination in itertools.product(*choices):
        yield "".join(combination)
