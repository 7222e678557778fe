"""Batched routed decoding of a pair: the small model steps, a signal decides, the large one writes one token.

The rows of a batch move together, so the large model is fed for all of them as soon as one needs it. That is the
same text as the runtime's, and cheap for the many short rows of a calibration; it is no way to serve.
States along the answers, for another round of training, come from `teacher_force` over the results.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from training.routers.generation import BATCH_ROWS, Answer, batches_by_length, decode
from training.routers.lane import Lane
from training.routers.pair import Pair
from training.routers.signals import Signal, StepRows


@dataclass
class RoutedAnswer(Answer):
    """An answer with its writers: by_large[t] = whether token t is the large model's."""

    by_large: list[bool] = field(default_factory=list)


def routed_answers(
    pair: Pair,
    prompts: Sequence[Sequence[int]],
    signal: Signal,
    threshold: float | Sequence[float],
    max_new_tokens: int,
    batch_rows: int = BATCH_ROWS,
) -> list[RoutedAnswer]:
    """Each prompt's greedy routed answer, up to an end token or max_new_tokens or the end of the positions.

    threshold: one for all prompts, or one for each.
    An end token of the small model counts only if its step is not sent. Raises ValueError if a prompt leaves no room.
    """
    answers = [RoutedAnswer() for _ in prompts]
    thresholds = [threshold] * len(prompts) if isinstance(threshold, float | int) else threshold
    positions = min(pair.small.max_positions, pair.large.max_positions)
    for batch in batches_by_length(prompts, batch_rows):
        room = min(max_new_tokens, positions - max(len(prompts[index]) for index in batch))
        if room < 1:
            raise ValueError(f"a prompt leaves no room in {positions} positions")
        rows = [answers[index] for index in batch]
        limits = torch.tensor([thresholds[index] for index in batch], device=pair.small.device)
        lanes = _PairLane(pair, [prompts[index] for index in batch], signal, limits, rows)
        decode(lanes.choose, [lanes], rows, pair.end_ids, room)
    return answers


def large_share(answers: Sequence[RoutedAnswer]) -> float:
    """Share of all tokens that the large model wrote."""
    total = sum(len(answer.tokens) for answer in answers)
    return sum(sum(answer.by_large) for answer in answers) / total


class _PairLane:
    """Both models' lanes as one. The large one runs when a row is sent, over all tokens it has not seen yet."""

    def __init__(
        self,
        pair: Pair,
        prompts: Sequence[Sequence[int]],
        signal: Signal,
        thresholds: Tensor,
        answers: Sequence[RoutedAnswer],
    ) -> None:
        self._pair = pair
        self._prompts = prompts
        self._signal = signal
        self._thresholds = thresholds
        self._answers = list(answers)
        self._small = Lane(pair.small, prompts)
        self._large: Lane | None = None
        self._unseen: list[Tensor] = []

    def choose(self) -> Tensor:
        """The next token of every row; notes who wrote it."""
        sampled = self._argmax(self._small)
        rows = StepRows(self._small.hidden, self._small.logits, sampled, self._pair.vocabulary)
        sent = self._signal.is_sent(self._signal.score(rows), self._thresholds)
        for answer, by_large in zip(self._answers, sent.tolist(), strict=True):
            if not answer.finished:
                answer.by_large.append(by_large)
        # A finished row's steps mean nothing: they must not wake the large model.
        if not any(a.by_large[-1] for a in self._answers if not a.finished):
            return sampled
        return torch.where(sent, self._argmax(self._large_lane()), sampled)

    def feed(self, tokens: Tensor) -> None:
        """Appends one token per row."""
        self._small.feed(tokens)
        self._unseen.append(tokens)

    def keep(self, rows: Tensor) -> None:
        """Forgets all rows but these."""
        self._small.keep(rows)
        self._thresholds = self._thresholds[rows]
        self._unseen = [tokens[rows] for tokens in self._unseen]
        kept = rows.tolist()
        self._answers = [self._answers[row] for row in kept]
        self._prompts = [self._prompts[row] for row in kept]
        if self._large is not None:
            self._large.keep(rows)

    def _large_lane(self) -> Lane:
        if self._large is None:
            self._large = Lane(self._pair.large, self._prompts)
        if self._unseen:
            self._large.extend(torch.stack(self._unseen, 1))
            self._unseen = []
        return self._large

    def _argmax(self, lane: Lane) -> Tensor:
        return lane.logits[:, : self._pair.vocabulary].argmax(-1)
