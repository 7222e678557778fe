"""The loop that fits a router's network: what it keeps, and what it refuses."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator

import pytest
import torch
from torch import Tensor, nn
from training.routers.fit import Batch, FitOptions, Fitted, binary_losses, fit

LABELS = torch.tensor([0, 1, 0, 1])


def batch_of(hidden: Tensor) -> Batch:
    return {"hidden": hidden, "label": LABELS}


def fitted(network: nn.Linear, train: list[Batch], held_out: Batch, **options: float) -> tuple[Fitted, int]:
    """What came of it, and how many epochs were looked at."""
    reports: list[str] = []
    settings = FitOptions(**{"learning_rate": 0.1, "epochs": 8, "patience": 5, **options})

    def epoch(_: random.Random) -> Iterator[Batch]:
        yield train[min(len(reports), len(train) - 1)]

    result = fit(
        network,
        lambda batch: network(batch["hidden"])[:, 0],
        epoch,
        [held_out],
        binary_losses(),
        settings,
        1,
        reports.append,
    )
    return result, len(reports)


def rows(seed: int) -> Tensor:
    return torch.randn(4, 3, generator=torch.Generator().manual_seed(seed)) + 3 * LABELS[:, None]


def not_finite() -> Tensor:
    return torch.full((4, 3), math.nan)


@pytest.mark.parametrize("changes", [{}, {"epochs": 0}, {"patience": 1}])
def test_rows_that_are_no_numbers_are_refused(changes: dict[str, int]) -> None:
    network = nn.Linear(3, 1)
    with pytest.raises(ValueError, match="none of . epochs gave a finite held-out loss"):
        fitted(network, [batch_of(not_finite())], batch_of(rows(1)), **changes)


def test_held_out_rows_that_are_no_numbers_are_refused() -> None:
    with pytest.raises(ValueError, match="values that are not finite"):
        fitted(nn.Linear(3, 1), [batch_of(rows(1))], batch_of(not_finite()))


def test_weights_that_become_no_numbers_end_it_with_the_best_state() -> None:
    torch.manual_seed(0)
    network = nn.Linear(3, 1)
    good, bad = batch_of(rows(1)), batch_of(not_finite())
    result, epochs = fitted(network, [good, good, bad], batch_of(rows(2)))
    assert (result.best, result.epochs, epochs) == (2, 3, 3)
    losses = binary_losses()(network(rows(2))[:, 0], batch_of(rows(2)))
    assert losses.mean().item() == pytest.approx(result.loss)
