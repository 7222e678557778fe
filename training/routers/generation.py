"""Greedy answers of one model to many prompts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from training.routers.causal_model import CausalModel
from training.routers.lane import Lane

BATCH_ROWS = 256
# Dropping a row means to copy every cache, so finished ones stay until this share of a batch is idle.
_IDLE_SHARE = 0.2


@dataclass
class Answer:
    """Token ids of an answer; the stop token is the last one where the answer is finished."""

    tokens: list[int] = field(default_factory=list)
    finished: bool = False


def greedy_answers(
    model: CausalModel,
    prompts: Sequence[Sequence[int]],
    stop_ids: frozenset[int],
    max_new_tokens: int,
    vocabulary: int | None = None,
    batch_rows: int = BATCH_ROWS,
) -> list[Answer]:
    """Each prompt's continuation up to a stop token or max_new_tokens, or to the end of the model's positions.

    vocabulary: ids from here on are never chosen (padding of the embedding).
    """
    answers = [Answer() for _ in prompts]
    for batch in batches_by_length(prompts, batch_rows):
        lane = Lane(model, [prompts[index] for index in batch])
        room = min(max_new_tokens, model.max_positions - max(len(prompts[index]) for index in batch))

        def choose(lane: Lane = lane) -> Tensor:
            return lane.logits[:, :vocabulary].argmax(-1)

        decode(choose, [lane], [answers[index] for index in batch], stop_ids, room)
    return answers


def batches_by_length(rows: Sequence[Sequence[int]], batch_rows: int) -> Iterator[list[int]]:
    """Indices of all rows, those of similar length together, the longest first."""
    order = sorted(range(len(rows)), key=lambda index: -len(rows[index]))
    for start in range(0, len(order), batch_rows):
        yield order[start : start + batch_rows]


def decode(
    choose: Callable[[], Tensor],
    lanes: Sequence[Lane],
    answers: Sequence[Answer],
    stop_ids: frozenset[int],
    max_new_tokens: int,
) -> None:
    """Appends to `answers` what `choose` picks from the lanes' state, one token per row and step.

    choose: the next token of every row that the lanes hold, [rows]. All lanes are fed every token.
    """
    row_of = list(range(len(answers)))
    for count in range(1, max_new_tokens + 1):
        tokens = choose()
        idle = 0
        for row, token in zip(row_of, tokens.tolist(), strict=True):
            answer = answers[row]
            if not answer.finished:
                answer.tokens.append(token)
                answer.finished = token in stop_ids
            idle += answer.finished
        if idle == len(row_of) or count == max_new_tokens:
            return
        if idle > _IDLE_SHARE * len(row_of):
            staying = [place for place, row in enumerate(row_of) if not answers[row].finished]
            row_of = [row_of[place] for place in staying]
            index = torch.tensor(staying, device=tokens.device)
            tokens = tokens[index]
            for lane in lanes:
                lane.keep(index)
        for lane in lanes:
            lane.feed(tokens)
