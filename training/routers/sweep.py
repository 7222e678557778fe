"""Routed decoding of the same prompts at many thresholds, from drafts.

Where the router works, its answers are mostly the large model's own. Both models read those once, which is much
cheaper than writing; every threshold then keeps the part it would have written, and goes on from there.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from training.routers.drafts import first_difference
from training.routers.pair import Pair
from training.routers.routed import RoutedAnswer, routed_answers
from training.routers.signals import Signal, StepRows
from training.routers.teacher import teacher_force

_CHUNK_PROMPTS = 128


def swept_answers(
    pair: Pair,
    prompts: Sequence[list[int]],
    drafts: Sequence[list[int]],
    signal: Signal,
    thresholds: Sequence[float],
    max_new_tokens: int,
) -> list[list[RoutedAnswer]]:
    """For each threshold what `routed_answers` returns, apart from scores and logits equal to within rounding.

    drafts: a guess at each answer, at least one token; the large model's own answers are good ones.
    """
    swept: list[list[RoutedAnswer]] = [[] for _ in thresholds]
    for start in range(0, len(prompts), _CHUNK_PROMPTS):
        part = slice(start, start + _CHUNK_PROMPTS)
        kept = _kept(pair, prompts[part], drafts[part], signal, thresholds, max_new_tokens)
        _continue(pair, prompts[part], kept, signal, thresholds, max_new_tokens)
        for answers, added in zip(swept, kept, strict=True):
            answers.extend(added)
    return swept


def _kept(
    pair: Pair,
    prompts: Sequence[list[int]],
    drafts: Sequence[list[int]],
    signal: Signal,
    thresholds: Sequence[float],
    max_new_tokens: int,
) -> list[list[RoutedAnswer]]:
    """Per threshold, each answer up to and including its first token that is not the draft's."""
    sequences = [[*prompt, *draft[:max_new_tokens]] for prompt, draft in zip(prompts, drafts, strict=True)]
    lengths = [len(prompt) for prompt in prompts]
    large: dict[int, Tensor] = {}
    for forced in teacher_force(pair.large, sequences, lengths, pair.vocabulary, top=1):
        large[forced.index] = forced.argmax
    kept = [[RoutedAnswer() for _ in prompts] for _ in thresholds]
    for forced in teacher_force(pair.small, sequences, lengths, pair.vocabulary, top=1):
        index, draft = forced.index, sequences[forced.index][lengths[forced.index] :]
        logits = pair.small.logits(forced.hidden)
        scores = signal.score(StepRows(forced.hidden, logits, forced.argmax, pair.vocabulary))
        for answers, threshold in zip(kept, thresholds, strict=True):
            sent = signal.is_sent(scores, threshold)
            written = torch.where(sent, large[index], forced.argmax).tolist()
            agreed, following = first_difference(draft, written, pair.end_ids)
            tokens = draft[:agreed] if following is None else [*draft[:agreed], following]
            finished = tokens[-1] in pair.end_ids
            answers[index] = RoutedAnswer(tokens, finished, sent[: len(tokens)].tolist())
    return kept


def _continue(
    pair: Pair,
    prompts: Sequence[list[int]],
    kept: list[list[RoutedAnswer]],
    signal: Signal,
    thresholds: Sequence[float],
    max_new_tokens: int,
) -> None:
    """Decodes what is not finished, all thresholds together."""
    positions = min(pair.small.max_positions, pair.large.max_positions)
    open_answers = [
        (answer, [*prompt, *answer.tokens], threshold)
        for answers, threshold in zip(kept, thresholds, strict=True)
        for prompt, answer in zip(prompts, answers, strict=True)
        if not answer.finished
        and len(answer.tokens) < max_new_tokens
        and len(prompt) + len(answer.tokens) < positions
    ]
    prefixes = [prefix for _, prefix, _ in open_answers]
    limits = [threshold for _, _, threshold in open_answers]
    tails = routed_answers(pair, prefixes, signal, limits, max_new_tokens)
    for (answer, _, _), tail in zip(open_answers, tails, strict=True):
        room = max_new_tokens - len(answer.tokens)
        answer.tokens += tail.tokens[:room]
        answer.by_large += tail.by_large[:room]
        answer.finished = answer.tokens[-1] in pair.end_ids
