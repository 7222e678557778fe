"""Feature rows on disk: shards of equally long arrays, written and read with bounded memory."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

SHARD_ROWS = 65_536
_FACTS = "collection.json"


class ShardWriter:
    """Collects rows and writes a shard whenever enough are there. Use as a context manager."""

    def __init__(self, directory: Path, shard_rows: int = SHARD_ROWS) -> None:
        """Raises ValueError if the directory holds shards already: they would be mixed."""
        if any(directory.glob("shard-*.safetensors")):
            raise ValueError(f"{directory} holds a collection already: name another directory or remove it")
        directory.mkdir(parents=True, exist_ok=True)
        self._directory = directory
        self._shard_rows = shard_rows
        self._pending: list[Mapping[str, Tensor]] = []
        self._pending_rows = 0
        self._shards = 0
        self.rows = 0

    def add(self, rows: Mapping[str, Tensor]) -> None:
        """Appends rows; every tensor has the same first size. Raises ValueError if not, or if names change."""
        counts = {len(values) for values in rows.values()}
        if len(counts) != 1:
            raise ValueError(f"columns of different lengths: {sorted(counts)}")
        if self._pending and self._pending[0].keys() != rows.keys():
            raise ValueError(f"columns {sorted(rows)} after {sorted(self._pending[0])}")
        self._pending.append({name: values.detach().cpu() for name, values in rows.items()})
        self._pending_rows += counts.pop()
        if self._pending_rows >= self._shard_rows:
            self._flush()

    def __enter__(self) -> ShardWriter:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None and self._pending:
            self._flush()

    def _flush(self) -> None:
        joined = {name: torch.cat([rows[name] for rows in self._pending]) for name in self._pending[0]}
        save_file(joined, self._directory / f"shard-{self._shards:05d}.safetensors")
        self._shards += 1
        self.rows += self._pending_rows
        self._pending, self._pending_rows = [], 0


def write_facts(directory: Path, facts: Mapping[str, Any]) -> None:
    """What a collection is made of; the card of the trained router repeats it."""
    (directory / _FACTS).write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")


def collection_of(directory: Path, *algorithms: str) -> dict[str, Any]:
    """What `write_facts` wrote. Raises ValueError if the collection is unfinished or of none of the algorithms."""
    path = directory / _FACTS
    if not path.exists():
        raise ValueError(f"{directory} holds no finished collection: {_FACTS} is missing")
    try:
        facts = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path}: not JSON ({error})") from error
    if not isinstance(facts, dict):
        raise ValueError(f"{path}: expected an object")
    if facts.get("algorithm") not in algorithms:
        raise ValueError(f"{path}: collected for {facts.get('algorithm')}, not for {' or '.join(algorithms)}")
    return facts


class Rows:
    """The rows of one or more collections."""

    def __init__(
        self,
        directories: list[Path],
        buffer_rows: int = 16 * SHARD_ROWS,
        view: Callable[[dict[str, Tensor]], dict[str, Tensor]] = lambda shard: shard,
    ) -> None:
        """buffer_rows: how many rows are held and shuffled together. All, if they fit. view: applied to every shard."""
        self._shards = [
            path for directory in directories for path in sorted(directory.glob("shard-*.safetensors"))
        ]
        if not self._shards:
            raise ValueError(f"no shards in {', '.join(map(str, directories))}")
        self._buffer_rows = buffer_rows
        self._view = view
        self._everything: dict[str, Tensor] | None = None

    def shards(self) -> Iterator[dict[str, Tensor]]:
        """All rows in order, shard by shard."""
        for path in self._shards:
            yield self._view(_loaded(path))

    def shuffled(self, batch_rows: int, rng: random.Random) -> Iterator[dict[str, Tensor]]:
        """Every row once, in batches of batch_rows in random order."""
        for buffer in self._buffers(rng):
            count = len(next(iter(buffer.values())))
            generator = torch.Generator().manual_seed(rng.getrandbits(32))
            order = torch.randperm(count, generator=generator)
            for chosen in order.split(batch_rows):
                yield {name: values[chosen] for name, values in buffer.items()}

    def _buffers(self, rng: random.Random) -> Iterator[dict[str, Tensor]]:
        if self._everything is not None:
            yield self._everything
            return
        held: list[dict[str, Tensor]] = []
        rows = 0
        yielded = False
        for path in rng.sample(self._shards, len(self._shards)):
            shard = self._view(_loaded(path))
            size = len(next(iter(shard.values())))
            if held and rows + size > self._buffer_rows:
                yield _join(held)
                held, rows, yielded = [], 0, True
            held.append(shard)
            rows += size
        last = _join(held)
        if not yielded:
            self._everything = last
        yield last


def _loaded(path: Path) -> dict[str, Tensor]:
    try:
        return load_file(path)
    except SafetensorError as error:
        raise ValueError(f"{path}: {error}") from error


def _join(shards: list[dict[str, Tensor]]) -> dict[str, Tensor]:
    if len({frozenset(shard) for shard in shards}) > 1:
        raise ValueError("the collections have different columns: they were made for different algorithms")
    return {name: torch.cat([shard[name] for shard in shards]) for name in shards[0]}
