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

MAX_NEW_TOKENS = 300

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
    positions = ids.shape[1] + max_new_tokens
    lanes = [_Lane(model.eval(), ids, lengths, positions) for model in models]
    index, live = lengths.clone(), torch.arange(len(prompts))
    results = [Generation() for _ in prompts]
    for count in range(1, max_new_tokens + 1):
        tokens, notes = choose([lane.logits for lane in lanes])
        for row, token, note in zip(live.tolist(), tokens.tolist(), notes.tolist(), strict=True):
            results[row].tokens.append(token)
            results[row].notes.append(note)
        going = (tokens != END_ID).nonzero()[:, 0]
        if len(going) == 0 or count == max_new_tokens:
            break
        if len(going) < len(tokens):
            live, index, tokens = live[going], index[going], tokens[going]
            for lane in lanes:
                lane.keep(going)
        for lane in lanes:
            lane.feed(tokens, index)
        index = index + 1
    return results
