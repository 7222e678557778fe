"""Teacher forcing: what a model says at every position of given sequences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from training.routers.causal_model import CausalModel
from training.routers.generation import batches_by_length

TOP_LOGITS = 100
# More does not fit a CPU's caches: 16,384 take 1.6 times as long there.
BATCH_TOKENS = 4096


@dataclass(frozen=True)
class Forced:
    """One sequence's answer part, one row per answer token t, all of it from position t-1, which predicts it.

    hidden: [n, H], after the final norm. top: [n, k] largest raw logits, descending. argmax: [n].
    log_probability: [n], of the sequence's own token.
    """

    index: int
    hidden: Tensor
    top: Tensor
    argmax: Tensor
    log_probability: Tensor


def teacher_force(
    model: CausalModel,
    sequences: Sequence[Sequence[int]],
    prompt_lengths: Sequence[int],
    vocabulary: int | None = None,
    top: int = TOP_LOGITS,
    batch_tokens: int = BATCH_TOKENS,
) -> Iterator[Forced]:
    """One pass over each sequence (prompt and answer); results come in any order, `index` tells whose.

    vocabulary: ids from here on take no part (padding of the embedding); log-probabilities are over all ids.
    """
    longest = max((len(sequence) for sequence in sequences), default=1)
    for batch in batches_by_length(sequences, max(1, batch_tokens // longest)):
        ids, mask = _right_padded([sequences[index] for index in batch], model.device)
        positions = torch.arange(ids.shape[1], device=model.device).expand_as(ids)
        states = model.states(ids, mask, positions)
        for row, index in enumerate(batch):
            first, end = prompt_lengths[index], len(sequences[index])
            yield _forced(
                model, index, states[row, first - 1 : end - 1], ids[row, first:end], vocabulary, top
            )


def _forced(
    model: CausalModel, index: int, hidden: Tensor, tokens: Tensor, vocabulary: int | None, top: int
) -> Forced:
    logits = model.logits(hidden)
    chosen = logits[:, :vocabulary]
    own = logits.log_softmax(-1).gather(1, tokens[:, None])[:, 0]
    largest = chosen.topk(min(top, chosen.shape[1]), dim=-1).values
    return Forced(index, hidden, largest, chosen.argmax(-1), own)


def _right_padded(rows: Sequence[Sequence[int]], device: torch.device) -> tuple[Tensor, Tensor]:
    longest = max(len(row) for row in rows)
    ids = torch.zeros((len(rows), longest), dtype=torch.long)
    mask = torch.zeros((len(rows), longest), dtype=torch.long)
    for index, row in enumerate(rows):
        ids[index, : len(row)] = torch.tensor(row)
        mask[index, : len(row)] = 1
    return ids.to(device), mask.to(device)
