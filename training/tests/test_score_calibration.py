"""Thresholds: from held-out rows to the runtime's comparison, and the choice by routed decoding."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import torch
from training.routers.calibrate import by_share
from training.routers.finish import runtime_threshold
from training.routers.pair import load_pair
from training.routers.prompts import Question
from training.routers.routed import large_share, routed_answers
from training.routers.score_calibration import Point, best_point, read_validation, share_at
from training.routers.signals import ENTROPY, Signal
from training.tests.tiny_checkpoints import tiny_checkpoint

CURVE = [Point(0.4, 0.02, 0.5, 9), Point(0.3, 0.04, 0.9, 9), Point(0.2, 0.06, 0.9, 9), Point(0.1, 0.1, 1, 9)]


@pytest.mark.parametrize("sends", ["at_least", "above", "below"])
@pytest.mark.parametrize("share", [0.1, 0.35, 0.99])
def test_a_threshold_by_share_sends_the_same_rows_at_run_time(sends: str, share: float) -> None:
    torch.manual_seed(2)
    scores = torch.rand(400)
    suspicion = [1 - s if sends == "below" else s for s in scores.tolist()]
    found = by_share([0] * 400, suspicion, share)
    signal = Signal("any", lambda rows: rows.hidden, sends)
    # The runtime compares in double precision what the network gives in single.
    sent = signal.is_sent(scores.double(), runtime_threshold(found, signal))
    assert sent.tolist() == [value >= found.threshold for value in suspicion]
    assert int(sent.sum()) == int(share * 400 + 1e-9)


def test_the_best_point_is_the_most_exact_within_the_share_and_the_cheapest_of_equals() -> None:
    assert best_point(CURVE, 0.07) == CURVE[1]
    assert best_point(CURVE, 1) == CURVE[3]
    assert best_point(CURVE, 0.01) is None


def test_the_share_of_an_accuracy_lies_between_the_points_around_it() -> None:
    assert share_at(CURVE, 0.7) == pytest.approx(0.03)
    assert share_at(CURVE[::-1], 0.95) == pytest.approx(0.08)
    assert share_at(CURVE, 0.4) == 0.02
    assert math.isnan(share_at(CURVE[:3], 0.95))


def test_validation_measures_what_decoding_gives(tmp_path: Path) -> None:
    pair = load_pair(
        tiny_checkpoint(tmp_path / "small", 1), tiny_checkpoint(tmp_path / "large", 2, hidden=48)
    )
    questions = [Question(f"What is {n}+1?", str(n + 1), None, "q") for n in range(3)]
    validation = read_validation(pair, questions, 20)
    points = validation.points(ENTROPY, [0.1, 0.001])
    for point in points:
        answers = routed_answers(pair, validation.prompts, ENTROPY, point.threshold, 20)
        assert point.share == large_share(answers)
        assert point.tokens == sum(len(answer.tokens) for answer in answers) / 3
        # Random models answer nothing.
        assert point.exact == validation.large_exact == 0


def test_validation_without_answers_is_refused(tmp_path: Path) -> None:
    pair = load_pair(tiny_checkpoint(tmp_path / "s", 1), tiny_checkpoint(tmp_path / "l", 2))
    with pytest.raises(ValueError, match='q:9: "answer" is missing'):
        read_validation(pair, [Question("1+1?", None, None, "q:9")], 20)
