"""Who decides whether a differing token changes the answer: R2R's step from mismatch to label."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from training.routers.answers import final_answer, same_answer
from training.routers.continuation import Cut, greedy_continuations
from training.routers.pair import Pair
from training.routers.prompts import Question
from training.routers.rules.r2r import DIVERGENT, SAME, UNPARSABLE


@dataclass(frozen=True)
class Mismatch:
    """A position where the models differ: after `length` tokens of a sequence.

    follows_large: whether the sequence is the large model's own answer, so that it shows how that goes on.
    room: tokens that an answer may still have.
    """

    sequence: int
    length: int
    small_token: int
    large_token: int
    follows_large: bool
    room: int


@dataclass(frozen=True)
class Cases:
    """Mismatches in some sequences (prompt and answer), with their questions and prompt lengths."""

    questions: Sequence[Question]
    prompt_lengths: Sequence[int]
    sequences: Sequence[list[int]]
    mismatches: Sequence[Mismatch]


Judge = Callable[[Pair, Cases], list[int]]
"""One verdict per mismatch: 1 divergent, 0 neutral, -1 unreadable."""


def always(_: Pair, cases: Cases) -> list[int]:
    """Every differing token counts."""
    return [DIVERGENT] * len(cases.mismatches)


def answer_judge(pair: Pair, cases: Cases) -> list[int]:
    """The large model finishes after the small model's token: is the final answer still as good as its own?"""
    unknown = [case for case in cases.mismatches if not case.follows_large]
    cuts = [_cut(case, case.small_token) for case in cases.mismatches]
    cuts += [_cut(case, case.large_token) for case in unknown]
    continued = greedy_continuations(pair.large, cases.sequences, cuts, pair.end_ids, pair.vocabulary)
    texts = [
        pair.text(_answer_part(cases, cut.sequence, cut.length) + answer.tokens)
        for cut, answer in zip(cuts, continued, strict=True)
    ]
    own = iter(texts[len(cases.mismatches) :])
    verdicts = []
    for case, after_small in zip(cases.mismatches, texts[: len(cases.mismatches)], strict=True):
        followed = pair.text(_answer_part(cases, case.sequence, None)) if case.follows_large else next(own)
        gold = cases.questions[case.sequence].answer
        verdicts.append(compare_answers(after_small, followed, gold))
    return verdicts


def _cut(case: Mismatch, token: int) -> Cut:
    return Cut(case.sequence, case.length, token, case.room)


def _answer_part(cases: Cases, sequence: int, end: int | None) -> list[int]:
    return cases.sequences[sequence][cases.prompt_lengths[sequence] : end]


def compare_answers(after_small: str, own: str, gold: str | None) -> int:
    """Divergent if the small model's token loses a right answer, or without `gold`, changes the answer.

    Unreadable if the large model's own text has no final answer to compare with.
    """
    reference = final_answer(own)
    if reference is None:
        return UNPARSABLE
    if gold is not None and not same_answer(reference, final_answer(gold) or gold):
        return SAME
    return SAME if same_answer(final_answer(after_small), reference) else DIVERGENT


JUDGES = ("answer", "model", "always")


def make_judge(name: str, pair: Pair, model: Path | None, device: str) -> Judge:
    """A judge of JUDGES. model: the chat model of `model`; None = the pair's large one."""
    if name == "model":
        from training.routers.model_judge import ModelJudge

        return ModelJudge(pair, model, device)
    return {"answer": answer_judge, "always": always}[name]
