"""Greedy answers of a model that has a guess at them: reading a guess is much cheaper than writing it."""

from __future__ import annotations

from collections.abc import Sequence

from training.routers.causal_model import CausalModel
from training.routers.continuation import Cut, greedy_continuations
from training.routers.generation import Answer, greedy_answers
from training.routers.teacher import teacher_force


def greedy_answers_from_drafts(
    model: CausalModel,
    prompts: Sequence[list[int]],
    drafts: Sequence[list[int] | None],
    stop_ids: frozenset[int],
    max_new_tokens: int,
    vocabulary: int | None = None,
) -> list[Answer]:
    """What `greedy_answers` returns; a draft is kept up to the first token that the model would not write.

    The outcome does not depend on the drafts, apart from logits that are equal to within rounding.
    """
    drafted = [index for index, draft in enumerate(drafts) if draft]
    plain = [index for index, draft in enumerate(drafts) if not draft]
    answers = [Answer() for _ in prompts]
    for index, answer in zip(
        plain,
        greedy_answers(model, [prompts[index] for index in plain], stop_ids, max_new_tokens, vocabulary),
        strict=True,
    ):
        answers[index] = answer
    sequences = [[*prompts[index], *(drafts[index] or [])[:max_new_tokens]] for index in drafted]
    lengths = [len(prompts[index]) for index in drafted]
    kept = [0] * len(drafted)
    cuts: dict[int, Cut] = {}
    for forced in teacher_force(model, sequences, lengths, vocabulary, top=1):
        start = lengths[forced.index]
        agreed, following = first_difference(
            sequences[forced.index][start:], forced.argmax.tolist(), stop_ids
        )
        kept[forced.index] = agreed
        if following is not None:
            cuts[forced.index] = Cut(forced.index, start + agreed, following, max_new_tokens - agreed)
    rest = greedy_continuations(model, sequences, list(cuts.values()), stop_ids, vocabulary)
    continued = dict(zip(cuts, rest, strict=True))
    for number, index in enumerate(drafted):
        start = lengths[number]
        tail = continued.get(number, Answer(finished=True))
        answers[index] = Answer(sequences[number][start : start + kept[number]] + tail.tokens, tail.finished)
    return answers


def first_difference(
    draft: Sequence[int], wanted: Sequence[int], stop_ids: frozenset[int]
) -> tuple[int, int | None]:
    """(tokens of the draft to keep, the model's own next one); None where the kept part ends the answer."""
    for at, (token, own) in enumerate(zip(draft, wanted, strict=True)):
        if token != own:
            return at, own
        if token in stop_ids:
            return at + 1, None
    return len(draft) - 1, draft[-1]
