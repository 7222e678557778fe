"""Thresholds of a router from held-out rows. Plain Python, so that anyone can replay the golden vectors."""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

GRID_POINTS = 100


@dataclass(frozen=True)
class ThresholdRule:
    """recall: value = least recall of positive labels. share: value = share of rows sent. score: no value."""

    kind: Literal["recall", "share", "score"]
    value: float = math.nan


def threshold_rule(text: str) -> ThresholdRule:
    """`recall:0.95`, `share:0.07` or `score`, for argparse."""
    kind, _, number = text.partition(":")
    if text == "score":
        return ThresholdRule("score")
    try:
        value = float(number)
    except ValueError:
        value = math.nan
    if kind in ("recall", "share") and 0 < value <= 1:
        return ThresholdRule(kind, value)
    raise argparse.ArgumentTypeError(f'"{text}" is none of recall:0..1, share:0..1, score')


@dataclass(frozen=True)
class Calibration:
    """A threshold for "send if score >= threshold", with the recall and share of rows it has there."""

    threshold: float
    recall: float
    share: float
    found: bool


def linear_grid(first: float = 0.01, last: float = 0.99, count: int = GRID_POINTS) -> list[float]:
    """Equally spaced, both ends included."""
    return [first + (last - first) * index / (count - 1) for index in range(count)]


def at_threshold(labels: Sequence[int], scores: Sequence[float], threshold: float) -> tuple[float, float]:
    """(recall of the positive labels, share of rows sent)."""
    sent = [score >= threshold for score in scores]
    positives = sum(labels)
    found = sum(1 for label, is_sent in zip(labels, sent, strict=True) if label and is_sent)
    return (found / positives if positives else 1.0), sum(sent) / len(sent)


def by_recall(
    labels: Sequence[int], scores: Sequence[float], least_recall: float, grid: Sequence[float]
) -> Calibration:
    """Among thresholds that reach the recall, the first with the smallest share of rows (R2R's rule)."""
    best: Calibration | None = None
    for threshold in grid:
        recall, share = at_threshold(labels, scores, threshold)
        if recall >= least_recall and (best is None or share < best.share):
            best = Calibration(threshold, recall, share, True)
    return best or Calibration(grid[0], *at_threshold(labels, scores, grid[0]), False)


def by_share(labels: Sequence[int], scores: Sequence[float], share: float) -> Calibration:
    """The lowest score that sends at most the share of rows."""
    ordered = sorted(scores, reverse=True)
    allowed = int(share * len(ordered) + 1e-9)
    # Equal scores go together: step over those that would exceed the share.
    threshold = math.nextafter(ordered[0], math.inf)
    for count in range(1, allowed + 1):
        if count == len(ordered) or ordered[count] < ordered[count - 1]:
            threshold = ordered[count - 1]
    return Calibration(threshold, *at_threshold(labels, scores, threshold), allowed > 0)
