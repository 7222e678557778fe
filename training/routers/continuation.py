"""How a model goes on from other tokens inside known sequences: what the judge of R2R asks for thousands of times."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch

from training.routers.causal_model import CausalModel
from training.routers.generation import BATCH_ROWS, Answer, decode
from training.routers.lane import Lane


@dataclass(frozen=True)
class Cut:
    """A sequence's first `length` tokens, then `token`. room: the longest continuation, the token included."""

    sequence: int
    length: int
    token: int
    room: int


def greedy_continuations(
    model: CausalModel,
    sequences: Sequence[Sequence[int]],
    cuts: Sequence[Cut],
    stop_ids: frozenset[int],
    vocabulary: int | None = None,
    batch_rows: int = BATCH_ROWS,
) -> list[Answer]:
    """Each cut's continuation, its token first, up to a stop token or its room.

    A sequence is read once for all its cuts, where the model's attention allows that.
    """
    answers = [Answer([cut.token], cut.token in stop_ids or cut.room <= 1) for cut in cuts]
    for read, batch in _batches(sequences, cuts, answers, batch_rows):
        chosen = [cuts[index] for index in batch]
        lane = _lane(model, sequences, read, chosen)
        room = max(cut.room for cut in chosen) - 1
        longest = max(cut.length for cut in chosen) + 1
        decode(
            lambda lane=lane: lane.logits[:, :vocabulary].argmax(-1),
            [lane],
            [answers[index] for index in batch],
            stop_ids,
            min(room, model.max_positions - longest),
        )
    for cut, answer in zip(cuts, answers, strict=True):
        del answer.tokens[max(cut.room, 1) :]
        answer.finished = answer.tokens[-1] in stop_ids
    return answers


def _batches(
    sequences: Sequence[Sequence[int]], cuts: Sequence[Cut], answers: Sequence[Answer], batch_rows: int
) -> Iterator[tuple[list[int], list[int]]]:
    """(sequences, cuts) of each batch, those of the longest sequences first."""
    going = [index for index, answer in enumerate(answers) if not answer.finished]
    going.sort(key=lambda index: (-len(sequences[cuts[index].sequence]), cuts[index].sequence))
    for start in range(0, len(going), batch_rows):
        batch = going[start : start + batch_rows]
        yield sorted({cuts[index].sequence for index in batch}), batch


def _lane(model: CausalModel, sequences: Sequence[Sequence[int]], read: list[int], cuts: list[Cut]) -> Lane:
    if not model.has_full_attention:
        return Lane(model, [[*sequences[cut.sequence][: cut.length], cut.token] for cut in cuts])
    place = {number: row for row, number in enumerate(read)}

    def column(values: list[int]) -> torch.Tensor:
        return torch.tensor(values, device=model.device)

    return Lane(model, [sequences[number] for number in read]).fork(
        column([place[cut.sequence] for cut in cuts]),
        column([cut.length for cut in cuts]),
        column([cut.token for cut in cuts]),
    )
