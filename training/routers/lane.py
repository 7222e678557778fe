"""One model decoding a batch of rows token by token with its cache."""

from __future__ import annotations

import copy
from collections.abc import Sequence

import torch
from torch import Tensor

from training.routers.attention import forked_cache, new_cache
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
        self.extend(tokens[:, None])

    def extend(self, tokens: Tensor) -> None:
        """Appends some tokens per row, [rows, n] with n >= 1."""
        count = tokens.shape[1]
        self._mask = torch.cat([self._mask, torch.ones_like(tokens)], 1)
        positions = self._next[:, None] + torch.arange(count, device=tokens.device)
        states = self.model.states(tokens, self._mask, positions, self._cache)
        self._next = self._next + count
        self._set(states[:, -1])

    def fork(self, rows: Tensor, lengths: Tensor, tokens: Tensor) -> Lane:
        """Another lane that goes on from prefixes of this one's rows, without reading them again.

        rows: which row each new one copies; lengths: how many of its tokens (not more than it has); tokens:
        the one that each is fed then. Positions between a prefix and its token are masked, so the model needs
        attention over all positions (`has_full_attention`).
        """
        lane = copy.copy(self)
        padding = (self._mask.cumsum(1) == 0).sum(1)
        ends = padding[rows] + lengths
        positions = int(ends.max())
        lane._cache = forked_cache(self._cache, rows, positions)
        seen = torch.arange(positions, device=ends.device)[None] < ends[:, None]
        lane._mask = self._mask[rows, :positions] * seen
        lane._next = lengths.clone()
        lane.feed(tokens)
        return lane

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
