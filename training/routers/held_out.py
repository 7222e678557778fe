"""The split of collected rows by question, for the choice of the epoch and for thresholds by recall or share."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from training.routers.fit import Batch
from training.routers.store import Rows

# Of ten questions one is held out.
HELD_OUT_OF = 10


def is_held_out(batch: Batch) -> Tensor:
    """Which rows belong to held-out questions, [rows]."""
    return batch["group"] % HELD_OUT_OF == 0


def chosen(batch: Batch, which: Tensor) -> Batch:
    """The rows that `which` marks."""
    return {name: values[which] for name, values in batch.items()}


def split_rows(rows: Rows, columns: Sequence[str]) -> tuple[Batch, int]:
    """(held-out rows, number of all rows). Raises ValueError if a column is missing or a part is empty."""
    parts: list[Batch] = []
    total = 0
    for shard in rows.shards():
        missing = next((name for name in columns if name not in shard), None)
        if missing is not None:
            raise ValueError(
                f'the rows have no column "{missing}": they were collected for another algorithm'
            )
        away = is_held_out(shard)
        parts.append({name: shard[name][away] for name in columns})
        total += len(away)
    held_out = {name: torch.cat([part[name] for part in parts]) for name in columns}
    count = len(held_out[columns[0]])
    if not 0 < count < total:
        raise ValueError(f"{count} of {total} rows are held out: collect more questions")
    return held_out, total


def training_rows(rows: Rows, batch_rows: int, rng: random.Random, least: int = 1) -> Iterator[Batch]:
    """The other rows once, in random order; batches are smaller by what is held out, those below `least` left out."""
    for batch in rows.shuffled(batch_rows, rng):
        kept = ~is_held_out(batch)
        if int(kept.sum()) >= least:
            yield chosen(batch, kept)
