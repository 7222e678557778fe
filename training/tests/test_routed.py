"""Batched routed decoding against the naive loop, and the signals' comparisons."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch
from training.routers.causal_model import CausalModel
from training.routers.generation import greedy_answers
from training.routers.pair import Pair, load_pair
from training.routers.routed import large_share, routed_answers
from training.routers.signals import ENTROPY, Signal, StepRows
from training.routers.sweep import swept_answers
from training.tests.tiny_checkpoints import tiny_checkpoint

MAX_NEW = 24
SIGNAL = Signal("any", lambda rows: rows.hidden[:, 0].sigmoid(), "above")


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Pair:
    root = tmp_path_factory.mktemp("pair")
    small = tiny_checkpoint(root / "small", 1)
    large = tiny_checkpoint(root / "large", 2, hidden=48)
    # Random models hardly ever write the end token; with these more, rows end at different steps.
    return replace(load_pair(small, large), end_ids=frozenset(range(1, 768, 30)))


@pytest.fixture(scope="module")
def prompts(pair: Pair) -> list[list[int]]:
    return [
        pair.prompt_ids(text) for text in ("Add 3.", "How many are 12 and 30?", "Ora", "Two days", "7*8?")
    ]


def last_state(model: CausalModel, ids: list[int]) -> torch.Tensor:
    row = torch.tensor([ids])
    return model.states(row, torch.ones_like(row), torch.arange(len(ids))[None])[:, -1]


def naive(pair: Pair, prompt: list[int], signal: Signal, threshold: float) -> tuple[list[int], list[bool]]:
    """One row, no cache: every step is a pass over the whole prefix."""
    ids, writers = list(prompt), []
    while len(writers) < MAX_NEW and (not writers or ids[-1] not in pair.end_ids):
        hidden = last_state(pair.small, ids)
        logits = pair.small.logits(hidden)
        rows = StepRows(hidden, logits, logits.argmax(-1))
        by_large = bool(signal.is_sent(signal.score(rows), threshold))
        if by_large:
            logits = pair.large.logits(last_state(pair.large, ids))
        ids.append(int(logits.argmax(-1)))
        writers.append(by_large)
    return ids[len(prompt) :], writers


@pytest.mark.parametrize("threshold", [0.2, 0.5, 0.8])
def test_batched_decoding_equals_the_naive_loop(
    pair: Pair, prompts: list[list[int]], threshold: float
) -> None:
    answers = routed_answers(pair, prompts, SIGNAL, threshold, MAX_NEW, batch_rows=4)
    expected = [naive(pair, prompt, SIGNAL, threshold) for prompt in prompts]
    assert [(answer.tokens, answer.by_large) for answer in answers] == expected
    assert 0 < large_share(answers) < 1
    assert {answer.finished for answer in answers} == {True, False}


def test_rows_may_have_thresholds_of_their_own(pair: Pair, prompts: list[list[int]]) -> None:
    thresholds = [0.8, -1.0, 1.1, 0.5, 0.2]
    answers = routed_answers(pair, prompts, SIGNAL, thresholds, MAX_NEW)
    expected = [naive(pair, *case) for case in zip(prompts, [SIGNAL] * 5, thresholds, strict=True)]
    assert [(answer.tokens, answer.by_large) for answer in answers] == expected


def test_a_sweep_over_drafts_equals_decoding_at_each_threshold(pair: Pair, prompts: list[list[int]]) -> None:
    drafts = [a.tokens for a in greedy_answers(pair.large, prompts, pair.end_ids, MAX_NEW)]
    drafts[0] = drafts[1]
    drafts[3] = drafts[3][:2]
    thresholds = [-1.0, 0.2, 0.5, 0.8, 1.1]
    swept = swept_answers(pair, prompts, drafts, SIGNAL, thresholds, MAX_NEW)
    for threshold, answers in zip(thresholds, swept, strict=True):
        assert answers == routed_answers(pair, prompts, SIGNAL, threshold, MAX_NEW)


def test_padding_of_the_embedding_is_no_largest_logit(pair: Pair, prompts: list[list[int]]) -> None:
    padded = replace(pair, vocabulary=300)
    seen: list[StepRows] = []

    def score(rows: StepRows) -> torch.Tensor:
        seen.append(rows)
        return SIGNAL.score(rows)

    signal = replace(SIGNAL, score=score)
    routed_answers(padded, prompts, signal, 0.5, MAX_NEW)
    drafts = [[5, 6, 7]] * len(prompts)
    swept_answers(padded, prompts, drafts, signal, [0.5], MAX_NEW)
    assert all(torch.equal(rows.top(4), rows.logits[:, :300].topk(4).values) for rows in seen)
    assert any(not torch.equal(rows.top(4), rows.logits.topk(4).values) for rows in seen)


def test_extreme_thresholds_are_the_models_alone(pair: Pair, prompts: list[list[int]]) -> None:
    for model, threshold, share in ((pair.small, 1.1, 0.0), (pair.large, -1.0, 1.0)):
        routed = routed_answers(pair, prompts, SIGNAL, threshold, MAX_NEW)
        alone = greedy_answers(model, prompts, pair.end_ids, MAX_NEW)
        assert [answer.tokens for answer in routed] == [answer.tokens for answer in alone]
        assert large_share(routed) == share


def test_prompt_without_room_is_refused(pair: Pair) -> None:
    with pytest.raises(ValueError, match="leaves no room in 128 positions"):
        routed_answers(pair, [[2] * 128], SIGNAL, 0.01, 5)


@pytest.mark.parametrize(
    ("sends", "expected"),
    [
        ("at_least", [False, True, True, True]),
        ("above", [False, False, True, True]),
        ("below", [True, False, False, True]),
    ],
)
def test_comparisons_are_those_of_the_runtime(sends: str, expected: list[bool]) -> None:
    signal = Signal("any", lambda rows: rows.hidden, sends)
    assert signal.is_sent(torch.tensor([0.2, 0.5, 0.7, math.nan]), 0.5).tolist() == expected


def test_entropy_is_the_normalised_one() -> None:
    logits = torch.zeros(2, 768)
    logits[1, 3] = 100
    rows = StepRows(torch.zeros(2, 4), logits, logits.argmax(-1))
    assert ENTROPY.score(rows).tolist() == pytest.approx([1, 0], abs=1e-5)
    assert ENTROPY.is_sent(ENTROPY.score(rows), 0.5).tolist() == [True, False]
