"""CITER's labels and loss (arXiv 2502.01976) on plain lists; the training code takes its labels from here."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

SMALL, LARGE = 1, 0
# Smaller confidences than this would make the loss infinite.
_LEAST = 1e-300


def needs_roll_out(small_token: int, large_token: int, gold_token: int) -> bool:
    """Whether neither model writes the gold token, so that only the final answer can tell."""
    return gold_token not in (small_token, large_token)


def label(small_token: int, large_token: int, gold_token: int, is_right: bool | None = None) -> int:
    """1 = the small model may write this token, 0 = the large one should.

    is_right: whether the answer that goes on from the prefix *and the small model's token* is right; needed only
    where `needs_roll_out`. Raises ValueError if it is missing there.
    """
    if small_token == gold_token:
        return SMALL
    if large_token == gold_token:
        return LARGE
    if is_right is None:
        raise ValueError("both models miss the gold token: the label needs a roll-out")
    return SMALL if is_right else LARGE


def mean_loss(confidences: Sequence[float], labels: Sequence[int]) -> float:
    """Mean binary cross-entropy of confidences in [0, 1]."""
    total = 0.0
    for confidence, target in zip(confidences, labels, strict=True):
        total -= math.log(max(confidence if target else 1 - confidence, _LEAST))
    return total / len(confidences)


def _replay_loss(given: Mapping[str, Any]) -> dict[str, Any]:
    return {"meanLoss": mean_loss(given["confidence"], given["labels"])}


REPLAYS = {"loss": _replay_loss}
"""By the kind of a golden vector: what it expects, from what it gives."""
