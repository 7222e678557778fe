"""Fits a network of one logit per row to labels, keeping the state of the best held-out loss."""

from __future__ import annotations

import copy
import math
import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

Batch = dict[str, Tensor]

Losses = Callable[[Tensor, Batch], Tensor]
"""From the logits of a batch to the loss of every row."""


@dataclass(frozen=True)
class FitOptions:
    """learning_rate: peak of AdamW's, falling to 0 as a cosine. patience: epochs without a better held-out loss."""

    learning_rate: float = 1e-3
    weight_decay: float = 5e-4
    batch_rows: int = 1024
    epochs: int = 30
    patience: int = 10
    seed: int = 0


@dataclass(frozen=True)
class Fitted:
    """epochs: how many ran; best: the one kept, from 1; loss: its held-out loss."""

    epochs: int
    best: int
    loss: float


def binary_losses(positive_weight: float = 1.0) -> Losses:
    """Binary cross-entropy against `batch["label"]`, positive rows times the weight."""
    weight = torch.tensor(positive_weight)

    def losses(logits: Tensor, batch: Batch) -> Tensor:
        labels = batch["label"].float()
        return F.binary_cross_entropy_with_logits(logits, labels, pos_weight=weight, reduction="none")

    return losses


def fit(
    network: nn.Module,
    logits_of: Callable[[Batch], Tensor],
    epoch: Callable[[random.Random], Iterable[Batch]],
    held_out: list[Batch],
    losses: Losses,
    options: FitOptions,
    steps_per_epoch: int,
    report: Callable[[str], None] = print,
) -> Fitted:
    """Minimises the mean of `losses(logits_of(batch), batch)`.

    epoch: the training rows once, in random order. The network ends in the best state. Raises ValueError if no
    epoch gave a finite held-out loss.
    """
    rng = random.Random(options.seed)
    torch.manual_seed(options.seed)
    optimiser = torch.optim.AdamW(
        network.parameters(), lr=options.learning_rate, weight_decay=options.weight_decay
    )
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, options.epochs * steps_per_epoch)
    best, best_loss, best_state = 0, math.inf, network.state_dict()
    for number in range(1, options.epochs + 1):
        network.train()
        for batch in epoch(rng):
            loss = losses(logits_of(batch), batch).mean()
            optimiser.zero_grad(set_to_none=True)
            loss.backward()
            optimiser.step()
            schedule.step()
        held_out_loss = mean_loss(network, logits_of, held_out, losses)
        report(f"epoch {number}: held-out loss {held_out_loss:.5f}")
        if held_out_loss < best_loss:
            best, best_loss, best_state = number, held_out_loss, copy.deepcopy(network.state_dict())
        # Neither weights nor rows become numbers again.
        if number - best >= options.patience or math.isnan(held_out_loss):
            break
    if best == 0:
        raise ValueError(
            f"none of {options.epochs} epochs gave a finite held-out loss: the rows hold values that are not finite, "
            f"or the learning rate of {options.learning_rate:g} is too high"
        )
    network.load_state_dict(best_state)
    network.eval()
    return Fitted(number, best, best_loss)


@torch.no_grad()
def mean_loss(
    network: nn.Module, logits_of: Callable[[Batch], Tensor], batches: Iterable[Batch], losses: Losses
) -> float:
    """Mean loss over all rows."""
    network.eval()
    total = rows = 0.0
    for batch in batches:
        row_losses = losses(logits_of(batch), batch)
        total += row_losses.sum().item()
        rows += len(row_losses)
    return total / rows
