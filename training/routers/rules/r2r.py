"""R2R's labels and loss (arXiv 2505.21600) on plain lists; the training code takes its labels from here."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from training.routers.calibrate import by_recall, linear_grid

DIVERGENT, SAME, UNPARSABLE = 1, 0, -1
INSTRUCTION = "instruction"


def label(
    small_token: int,
    large_token: int,
    verdict: int | None,
    *,
    is_instruction: bool = False,
    is_think_end: bool = False,
) -> int | None:
    """1 = the small model's token leads elsewhere, 0 = not, None = the row is dropped.

    verdict: the judge's, asked only where the tokens differ; -1 = it could not be read.
    is_think_end: the large model's token ends its reasoning, which is never counted as divergent.
    """
    if is_instruction:
        return None
    if small_token == large_token or is_think_end:
        return SAME
    return verdict if verdict in (SAME, DIVERGENT) else None


def positive_weight(negatives: int, positives: int, recall_factor: float = 1.0) -> float:
    """Weight of the positive rows in the loss; 1 without positives."""
    return negatives / positives * recall_factor if positives else 1.0


def mean_loss(logits: Sequence[float], labels: Sequence[int], weight: float) -> float:
    """Mean binary cross-entropy of logits, positive rows times `weight`."""
    total = sum(
        weight * _softplus(-logit) if target else _softplus(logit)
        for logit, target in zip(logits, labels, strict=True)
    )
    return total / len(logits)


def _softplus(x: float) -> float:
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))


def _replay_labels(given: Mapping[str, Any]) -> dict[str, Any]:
    labels = [
        label(
            row["slm"],
            row["llm"],
            row["judge"],
            is_instruction=row["tokenType"] == INSTRUCTION,
            is_think_end=row.get("llmIsThinkEnd", False),
        )
        for row in given["rows"]
    ]
    return {"label": labels, "kept": [value is not None for value in labels]}


def _replay_loss(given: Mapping[str, Any]) -> dict[str, Any]:
    weight = positive_weight(given["negatives"], given["positives"], given["recallFactor"])
    return {"posWeight": weight, "meanLoss": mean_loss(given["routerLogits"], given["labels"], weight)}


def _replay_calibration(given: Mapping[str, Any]) -> dict[str, Any]:
    grid = given["grid"]
    points = linear_grid(grid["from"], grid["to"], grid["count"])
    found = by_recall(given["labels"], given["probs"], given["minRecall"], points)
    return {
        "threshold": found.threshold,
        "recall": found.recall,
        "positiveRatePercent": 100 * found.share,
        "found": found.found,
    }


REPLAYS = {"labels": _replay_labels, "loss": _replay_loss, "calibration": _replay_calibration}
"""By the kind of a golden vector: what it expects, from what it gives."""
