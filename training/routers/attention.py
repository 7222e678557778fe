"""Attention for many short rows on a CPU: no key or value is copied.

With a padding mask, transformers' own kernels repeat the keys for every query head at every step; at a batch
of hundreds of rows that is most of the time of decoding.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from transformers import AttentionInterface
from transformers.cache_utils import Cache, DynamicLayer
from transformers.masking_utils import AttentionMaskInterface, eager_mask

GROUPED_ATTENTION = "grouped_products"
_SPARE_POSITIONS = 64


def grouped_attention(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    scaling: float | None = None,
    **kwargs: Any,
) -> tuple[Tensor, None]:
    """Softmax attention; the query heads of one key head are folded into rows.

    query: [batch, heads, tokens, size]; key, value: [batch, key heads, positions, size]; mask added to the
    scores, [batch, 1, tokens, positions]. Raises ValueError for attention with caps or sinks.
    """
    unknown = [name for name in ("softcap", "s_aux", "position_bias") if kwargs.get(name) is not None]
    if unknown:
        raise ValueError(f"this model's attention has {unknown[0]}: load it with --attention eager")
    batch, heads, tokens, size = query.shape
    key_heads = key.shape[1]
    folded = query.reshape(batch, key_heads, heads // key_heads * tokens, size)
    scores = torch.matmul(folded, key.transpose(2, 3)) * (size**-0.5 if scaling is None else scaling)
    if attention_mask is not None:
        mask = attention_mask.repeat(1, 1, heads // key_heads, 1) if heads > key_heads else attention_mask
        scores = scores + mask
    mixed = torch.matmul(scores.softmax(-1, dtype=torch.float32).to(value.dtype), value)
    return mixed.reshape(batch, heads, tokens, size).transpose(1, 2).contiguous(), None


class GrowingLayer(DynamicLayer):
    """A cache layer written in place, with room for some tokens more than it holds."""

    def update(
        self, key_states: Tensor, value_states: Tensor, *args: Any, **kwargs: Any
    ) -> tuple[Tensor, Tensor]:
        """Adds the new positions; returns all keys and values so far."""
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
            self._room: tuple[Tensor, Tensor] | None = None
        seen, added = self.get_seq_length(), key_states.shape[2]
        if self._room is None or seen + added > self._room[0].shape[2]:
            self._room = self._larger(key_states, value_states, seen + added + _SPARE_POSITIONS)
        keys, values = self._room
        keys[:, :, seen : seen + added] = key_states
        values[:, :, seen : seen + added] = value_states
        self.keys, self.values = keys[:, :, : seen + added], values[:, :, : seen + added]
        return self.keys, self.values

    def _larger(self, key_states: Tensor, value_states: Tensor, positions: int) -> tuple[Tensor, Tensor]:
        room = []
        for old, new in ((self.keys, key_states), (self.values, value_states)):
            buffer = new.new_empty((*new.shape[:2], positions, new.shape[3]))
            if old.numel():
                buffer[:, :, : old.shape[2]] = old
            room.append(buffer)
        return room[0], room[1]

    def batch_select_indices(self, indices: Tensor) -> None:
        """Keeps some rows only."""
        super().batch_select_indices(indices)
        self._room = None

    def forked(self, rows: Tensor, positions: int) -> GrowingLayer:
        """A layer with copies of some rows (one may occur more than once), cut to the first positions."""
        copy = GrowingLayer()
        copy.update(self.keys[rows, :, :positions], self.values[rows, :, :positions])
        return copy


def new_cache() -> Cache:
    """An empty cache for one batch."""
    return Cache(layer_class_to_replicate=GrowingLayer)


def forked_cache(cache: Cache, rows: Tensor, positions: int) -> Cache:
    """A cache of copies of some rows, cut to the first positions."""
    copy = new_cache()
    copy.layers = [layer.forked(rows, positions) for layer in cache.layers]
    return copy


def register() -> None:
    """Makes `attn_implementation=GROUPED_ATTENTION` known to transformers."""
    AttentionInterface.register(GROUPED_ATTENTION, grouped_attention)
    AttentionMaskInterface.register(GROUPED_ATTENTION, eager_mask)
