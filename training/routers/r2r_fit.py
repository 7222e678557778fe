"""Fits R2R's network to collected rows."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from training.routers.fit import Batch, FitOptions, Fitted, binary_losses, fit
from training.routers.held_out import chosen, is_held_out, training_rows
from training.routers.r2r_network import DivergenceClassifier
from training.routers.rules.r2r import positive_weight
from training.routers.signals import Signal, StepRows
from training.routers.store import Rows

_LEAST_SCALE = 1e-3


@dataclass(frozen=True)
class Survey:
    """One pass over all rows: class counts of the training part, means and scales of its features.

    The counts are sums of labels, which may be probabilities.
    """

    negatives: int
    positives: int
    inputs: Tensor
    top: Tensor
    held_out: list[Batch]


def survey(rows: Rows, embedding: Tensor) -> Survey:
    """Raises ValueError if the training part lacks one of the classes, or nothing is held out."""
    counts = [0.0, 0.0]
    inputs, top = _Moments(), _Moments()
    held_out: list[Batch] = []
    for shard in rows.shards():
        away = is_held_out(shard)
        held_out.append(chosen(shard, away))
        part = chosen(shard, ~away)
        positives = part["label"].double().sum().item()
        counts[1] += positives
        counts[0] += len(part["label"]) - positives
        inputs.add(torch.cat([part["hidden"].float(), embedding[part["sampled"].long()]], 1))
        top.add(part["top"].float())
    if 0 in counts:
        raise ValueError(
            f"{counts[1]:.0f} divergent and {counts[0]:.0f} other rows: both are needed, collect more"
        )
    if not any(len(part["label"]) for part in held_out):
        raise ValueError("no question is held out: collect more")
    return Survey(round(counts[0]), round(counts[1]), inputs.mean_and_scale(), top.mean_and_scale(), held_out)


class _Moments:
    def __init__(self) -> None:
        self._count = 0
        self._sum: Tensor | float = 0.0
        self._squares: Tensor | float = 0.0

    def add(self, values: Tensor) -> None:
        values = values.double()
        self._count += len(values)
        self._sum = self._sum + values.sum(0)
        self._squares = self._squares + values.square().sum(0)

    def mean_and_scale(self) -> Tensor:
        mean = self._sum / self._count
        variance = (self._squares / self._count - mean.square()).clamp(min=0)
        return torch.stack([mean, variance.sqrt().clamp(min=_LEAST_SCALE)]).float()


def train_network(
    rows: Rows,
    embedding: Tensor,
    widths: Sequence[int],
    recall_factor: float,
    dropout: float,
    options: FitOptions,
) -> tuple[DivergenceClassifier, Survey, Fitted]:
    """A network of raw features in its best state. Training sees standardised ones; the scales are folded in."""
    seen = survey(rows, embedding)
    torch.manual_seed(options.seed)
    network = DivergenceClassifier(embedding.shape[1], seen.top.shape[1], widths, dropout)

    def logits_of(batch: Batch) -> Tensor:
        raw = torch.cat([batch["hidden"].float(), embedding[batch["sampled"].long()]], 1)
        scaled = (raw - seen.inputs[0]) / seen.inputs[1]
        hidden, sampled = scaled.split(embedding.shape[1], 1)
        return network(hidden, sampled, (batch["top"].float() - seen.top[0]) / seen.top[1])

    def epoch(rng: random.Random) -> Iterator[Batch]:
        yield from training_rows(rows, options.batch_rows, rng)

    weight = positive_weight(seen.negatives, seen.positives, recall_factor)
    # The held-out rows of a batch are left out of it, so the batches of an epoch are those of all rows.
    steps = -(-(seen.negatives + seen.positives + _count(seen.held_out)) // options.batch_rows)
    fitted = fit(network, logits_of, epoch, seen.held_out, binary_losses(weight), options, steps)
    network.fold_standardisation(seen.inputs, seen.top)
    return network, seen, fitted


def _count(batches: list[Batch]) -> int:
    return sum(len(batch["label"]) for batch in batches)


def signal(network: DivergenceClassifier, embedding: Tensor) -> Signal:
    """The network as the runtime uses it: at the threshold or above, the large model writes."""
    top = network.logits_projection.in_features

    @torch.no_grad()
    def score(rows: StepRows) -> Tensor:
        return network(rows.hidden, embedding[rows.sampled], rows.top(top)).sigmoid()

    return Signal("r2r", score, "at_least")


@torch.no_grad()
def held_out_scores(
    network: DivergenceClassifier, embedding: Tensor, seen: Survey
) -> tuple[list[int], list[float]]:
    """Labels and divergence probabilities of all held-out rows."""
    labels: list[int] = []
    scores: list[float] = []
    for batch in seen.held_out:
        embedded = embedding[batch["sampled"].long()]
        logits = network(batch["hidden"].float(), embedded, batch["top"].float())
        labels += batch["label"].tolist()
        scores += logits.sigmoid().tolist()
    return labels, scores
