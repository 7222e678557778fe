"""One model decoding a batch of rows token by token with its cache."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from training.routers.attention import new_cache
from training.routers.causal_model import CausalModel


class Lane:
    """The model's state for every row: `hidden` [rows, H] and `logits` [rows, V] that predict the next token.

    Rows are padded on the left, so that all of them write the same cache position.
    """

    def __init__(self, model: CausalModel, prompts: Sequence[Sequence[int]]) -> None:
        self.model = model
        self._cache = new_cache()
        ids, self._mask = left_padded(prompts, model.device)
        positions = (self._mask.cumsum(1) - 1).clamp(min=0)
        self._next = positions[:, -1] + 1
        self._set(model.states(ids, self._mask, positions, self._cache)[:, -1])

    def feed(self, tokens: Tensor) -> None:
        """Appends one token per row, [rows]."""
        self._mask = torch.cat([self._mask, torch.ones_like(self._mask[:, :1])], 1)
        states = self.model.states(tokens[:, None], self._mask, self._next[:, None], self._cache)
        self._next = self._next + 1
        self._set(states[:, -1])

    def keep(self, rows: Tensor) -> None:
        """Forgets all rows but these."""
        self._cache.batch_select_indices(rows)
        self._mask, self._next = self._mask[rows], self._next[rows]
        self.hidden, self.logits = self.hidden[rows], self.logits[rows]

    def _set(self, hidden: Tensor) -> None:
        self.hidden = hidden
        self.logits = self.model.logits(hidden)


def left_padded(rows: Sequence[Sequence[int]], device: torch.device) -> tuple[Tensor, Tensor]:
    """Ids and mask [rows, longest]; the padding's id is 0 and means nothing."""
    longest = max(len(row) for row in rows)
    ids = torch.zeros((len(rows), longest), dtype=torch.long)
    mask = torch.zeros((len(rows), longest), dtype=torch.long)
    for index, row in enumerate(rows):
        ids[index, longest - len(row) :] = torch.tensor(row)
        mask[index, longest - len(row) :] = 1
    return ids.to(device), mask.to(device)
