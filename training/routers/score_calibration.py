"""Thresholds by what they bring: routed decoding of validation problems over a grid of thresholds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from training.routers.answers import is_right
from training.routers.drafts import greedy_answers_from_drafts
from training.routers.gold_rows import solution_drafts
from training.routers.pair import Pair
from training.routers.prompts import Question
from training.routers.routed import large_share
from training.routers.signals import Signal
from training.routers.sweep import swept_answers


@dataclass(frozen=True)
class Point:
    """What a threshold gives. share: of tokens that the large model wrote; exact: share of right answers."""

    threshold: float
    share: float
    exact: float
    tokens: float


@dataclass(frozen=True)
class Validation:
    """Validation problems, read once for all signals. large_exact: share that the large model alone gets right."""

    pair: Pair
    questions: Sequence[Question]
    prompts: list[list[int]]
    drafts: list[list[int]]
    large_exact: float
    max_new_tokens: int

    def points(self, signal: Signal, thresholds: Sequence[float]) -> list[Point]:
        """One point per threshold."""
        swept = swept_answers(self.pair, self.prompts, self.drafts, signal, thresholds, self.max_new_tokens)
        return [
            Point(
                threshold,
                large_share(answers),
                _exact(self.pair, self.questions, [answer.tokens for answer in answers]),
                sum(len(answer.tokens) for answer in answers) / len(answers),
            )
            for threshold, answers in zip(thresholds, swept, strict=True)
        ]


def read_validation(pair: Pair, questions: Sequence[Question], max_new_tokens: int) -> Validation:
    """Lets the large model answer all problems. Raises ValueError naming a problem without an answer."""
    for question in questions:
        question.required("answer", "calibration by score")
    prompts = [pair.prompt_ids(question.text) for question in questions]
    drafts = solution_drafts(pair, questions)
    answers = greedy_answers_from_drafts(
        pair.large, prompts, drafts, pair.end_ids, max_new_tokens, pair.vocabulary
    )
    tokens = [answer.tokens for answer in answers]
    return Validation(pair, questions, prompts, tokens, _exact(pair, questions, tokens), max_new_tokens)


def _exact(pair: Pair, questions: Sequence[Question], answers: Sequence[list[int]]) -> float:
    right = [
        is_right(pair.text(tokens), question.answer or "")
        for question, tokens in zip(questions, answers, strict=True)
    ]
    return sum(right) / len(right)


def best_point(points: Sequence[Point], max_share: float) -> Point | None:
    """The most exact one among those with at most the share, the cheapest of equals; None if there is none."""
    allowed = [point for point in points if point.share <= max_share]
    return max(allowed, key=lambda point: (point.exact, -point.share), default=None)


def share_at(points: Sequence[Point], exact: float) -> float:
    """The least share with which a curve reaches an accuracy, between points by a straight line; NaN if never."""
    ordered = sorted(points, key=lambda point: point.share)
    for before, after in zip([None, *ordered], ordered, strict=False):
        if after.exact >= exact:
            if before is None:
                return after.share
            part = (exact - before.exact) / (after.exact - before.exact)
            return before.share + part * (after.share - before.share)
    return math.nan
