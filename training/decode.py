"""Batched greedy decoding with one or more models that share a tokenizer.

This is the sequential reference of token-level routing: every model's cache sees every token, and a
chooser picks whose token is taken. Slow beside the runtime, and simple enough to check it against.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from training.model import LanguageModel, LayerCache
from training.tokenizer import END_ID, PAD_ID

# The longest reference answers of the held-out lists have 378 tokens, the longest prompts 110.
MAX_NEW_TOKENS = 400

Chooser = Callable[[list[Tensor]], tuple[Tensor, Tensor]]
"""From each model's logits [rows, vocabulary] to the tokens [rows] and notes [rows] or [rows, n]."""


@dataclass
class Generation:
    """One answer: token ids (the end token included when reached) and the chooser's notes."""

    tokens: list[int] = field(default_factory=list)
    notes: list[float | list[float]] = field(default_factory=list)


def greedy(logits: list[Tensor]) -> tuple[Tensor, Tensor]:
    """Chooser for a single model."""
    return logits[0].argmax(-1), torch.zeros(len(logits[0]))


class _Lane:
    """One model with its cache and the logits of the next token for every live row."""

    def __init__(self, model: LanguageModel, ids: Tensor, lengths: Tensor, positions: int) -> None:
        self._model = model
        self._cache: list[LayerCache] = model.new_cache(len(ids), positions)
        logits = model(ids, self._cache)
        self.logits = logits[torch.arange(len(ids)), lengths - 1]

    def keep(self, rows: Tensor) -> None:
        self._cache = [layer.select(rows) for layer in self._cache]
        self.logits = self.logits[rows]

    def feed(self, tokens: Tensor, index: Tensor) -> None:
        self.logits = self._model(tokens[:, None], self._cache, index)[:, 0]


def _padded_ids(prompts: Sequence[list[int]]) -> tuple[Tensor, Tensor]:
    lengths = torch.tensor([len(prompt) for prompt in prompts])
    ids = torch.full((len(prompts), int(lengths.max())), PAD_ID, dtype=torch.long)
    for row, prompt in enumerate(prompts):
        ids[row, : len(prompt)] = torch.tensor(prompt)
    return ids, lengths


class _Rows:
    """Which prompts are still being answered, and where each stands.

    Finished rows stay in the batch until a quarter of it is idle: dropping one means to copy every cache.
    """

    def __init__(self, lengths: Tensor) -> None:
        self.index = lengths.clone()
        self.prompt = torch.arange(len(lengths))
        self.live = torch.ones(len(lengths), dtype=torch.bool)

    @property
    def crowded(self) -> bool:
        return int(self.live.sum()) <= 0.75 * len(self.live)

    def compact(self) -> Tensor:
        """Forgets finished rows; returns the batch rows that stay."""
        staying = self.live.nonzero()[:, 0]
        self.index, self.prompt = self.index[staying], self.prompt[staying]
        self.live = self.live[staying]
        return staying


@torch.no_grad()
def generate(
    models: Sequence[LanguageModel],
    prompts: Sequence[list[int]],
    choose: Chooser = greedy,
    max_new_tokens: int = MAX_NEW_TOKENS,
) -> list[Generation]:
    """Decodes all prompts together until each has its end token or max_new_tokens.

    Raises ValueError if a prompt and its answer could exceed the models' positions.
    """
    ids, lengths = _padded_ids(prompts)
    limit = min(model.config.max_positions for model in models)
    if ids.shape[1] >= limit:
        raise ValueError(f"a prompt of {ids.shape[1]} tokens leaves no room in {limit} positions")
    max_new_tokens = min(max_new_tokens, limit - ids.shape[1])
    lanes = [_Lane(model.eval(), ids, lengths, ids.shape[1] + max_new_tokens) for model in models]
    rows = _Rows(lengths)
    results = [Generation() for _ in prompts]
    for count in range(1, max_new_tokens + 1):
        tokens, notes = choose([lane.logits for lane in lanes])
        for row in rows.live.nonzero()[:, 0].tolist():
            generation = results[int(rows.prompt[row])]
            generation.tokens.append(int(tokens[row]))
            generation.notes.append(notes[row].tolist())
        rows.live &= tokens != END_ID
        if not rows.live.any() or count == max_new_tokens:
            break
        if rows.crowded:
            staying = rows.compact()
            tokens = tokens[staying]
            for lane in lanes:
                lane.keep(staying)
        for lane in lanes:
            lane.feed(tokens, rows.index)
        rows.index = rows.index + rows.live.long()
    return results
