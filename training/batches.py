"""An endless, resumable stream of training batches.

Problems are drawn in pools, sorted by length, cut into batches of similar length under a token
budget, and the batches shuffled. No packing: each row is one problem from position 0, as in use.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import Tensor

from training.generator import draw
from training.tokenizer import PAD_ID, encode_answers, encode_prompts

MAX_SEQUENCE_TOKENS = 480
POOL_PROBLEMS = 4000
# Few different shapes, so that the CPU kernels set up for one are used again.
LENGTH_STEP = 16


@dataclass(frozen=True)
class Batch:
    """One step's data.

    ids: [rows, tokens] inputs, padded at the end.
    chosen: flat positions whose next token counts in the loss (the answer's tokens).
    targets: that next token, one per chosen position.
    tokens: inputs that are not padding.
    """

    ids: Tensor
    chosen: Tensor
    targets: Tensor
    tokens: int


Example = tuple[list[int], list[int]]


def _length(example: Example) -> int:
    """Input tokens: all but the last, which is only a target."""
    return len(example[0]) + len(example[1]) - 1


def _padded(length: int) -> int:
    return -(-length // LENGTH_STEP) * LENGTH_STEP


def collate(examples: list[Example]) -> Batch:
    """Makes one batch of (prompt ids, answer ids) pairs."""
    width = _padded(max(_length(example) for example in examples))
    ids = np.full((len(examples), width), PAD_ID, dtype=np.int64)
    targets = np.full((len(examples), width), -1, dtype=np.int64)
    for row, (prompt, answer) in enumerate(examples):
        sequence = prompt + answer
        ids[row, : len(sequence) - 1] = sequence[:-1]
        targets[row, len(prompt) - 1 : len(sequence) - 1] = answer
    flat = targets.reshape(-1)
    chosen = np.flatnonzero(flat >= 0)
    return Batch(
        torch.from_numpy(ids),
        torch.from_numpy(chosen),
        torch.from_numpy(flat[chosen]),
        sum(_length(example) for example in examples),
    )


def cut(examples: list[Example], batch_tokens: int) -> list[Batch]:
    """Batches of similar length with at most batch_tokens inputs each, padding included."""
    ordered = sorted(examples, key=_length)
    batches: list[Batch] = []
    pending: list[Example] = []
    for example in ordered:
        if pending and (len(pending) + 1) * _padded(_length(example)) > batch_tokens:
            batches.append(collate(pending))
            pending = []
        pending.append(example)
    if pending:
        batches.append(collate(pending))
    return batches


class BatchStream:
    """Batches of fresh training problems. The same seed gives the same batches."""

    def __init__(self, tokenizer: Tokenizer, batch_tokens: int, seed: int) -> None:
        self._tokenizer = tokenizer
        self._batch_tokens = batch_tokens
        self._rng = random.Random(f"batches:{seed}")
        self._pool_state = self._rng.getstate()
        self._pool: list[Batch] = []
        self._used = 0

    def _fill(self) -> None:
        self._pool_state = self._rng.getstate()
        problems = [draw(self._rng, "train") for _ in range(POOL_PROBLEMS)]
        prompts = encode_prompts(self._tokenizer, [p.question for p in problems])
        answers = encode_answers(self._tokenizer, [p.answer_text for p in problems])
        examples = [e for e in zip(prompts, answers, strict=True) if _length(e) < MAX_SEQUENCE_TOKENS]
        self._pool = cut(examples, self._batch_tokens)
        self._rng.shuffle(self._pool)
        self._used = 0

    def next(self) -> Batch:
        """The next batch."""
        if self._used == len(self._pool):
            self._fill()
        self._used += 1
        return self._pool[self._used - 1]

    def state_dict(self) -> dict[str, Any]:
        """Where the stream stands; pools are drawn again rather than stored."""
        return {"pool_state": self._pool_state, "used": self._used}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continues where state_dict was taken."""
        self._rng.setstate(state["pool_state"])
        if state["used"] > 0:
            self._fill()
        self._used = state["used"]
