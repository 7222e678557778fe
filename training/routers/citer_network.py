"""CITER's confidence network and its fit: Linear, BatchNorm, ReLU, Linear, and a linear head."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import torch
from safetensors import safe_open
from torch import Tensor, nn

from training.routers.fit import Batch, FitOptions, Fitted, binary_losses, fit
from training.routers.held_out import split_rows, training_rows
from training.routers.signals import Signal, StepRows
from training.routers.store import Rows

ARCHITECTURE = "BatchNormMlp"
DEFAULT_THRESHOLD = 0.95


class ConfidenceMlp(nn.Module):
    """Hidden vector to one logit: high where the small model may write. In eval mode rows do not see each other."""

    def __init__(self, hidden: int, dropout: float = 0.1) -> None:
        super().__init__()
        self.fc1 = nn.Linear(hidden, 2 * hidden)
        self.bn = nn.BatchNorm1d(2 * hidden)
        self.fc2 = nn.Linear(2 * hidden, hidden)
        self.head = nn.Linear(hidden, 1)
        self.dropout = nn.Dropout(dropout)

    def forward(self, hidden: Tensor) -> Tensor:
        """Logits [rows] from [rows, H]."""
        inner = self.dropout(torch.relu(self.bn(self.fc1(hidden))))
        return self.head(self.dropout(self.fc2(inner)))[:, 0]

    def stored(self) -> dict[str, Tensor]:
        """The tensors as the runtime reads them; the count of batches is of no use to it."""
        return {name: value for name, value in self.state_dict().items() if name != "bn.num_batches_tracked"}

    def parameter_count(self) -> int:
        return sum(parameter.numel() for parameter in self.parameters())


def train_confidence(rows: Rows, dropout: float, options: FitOptions) -> tuple[ConfidenceMlp, Batch, Fitted]:
    """The network in its best state, and the held-out rows. Plain BCE: labels are not reweighted."""
    held_out, count = split_rows(rows, ("hidden", "label"))
    torch.manual_seed(options.seed)
    network = ConfidenceMlp(held_out["hidden"].shape[1], dropout)

    def epoch(rng: random.Random) -> Iterator[Batch]:
        # A batch norm needs two rows.
        yield from training_rows(rows, options.batch_rows, rng, least=2)

    steps = -(-count // options.batch_rows)
    fitted = fit(
        network, lambda b: network(b["hidden"].float()), epoch, [held_out], binary_losses(), options, steps
    )
    return network, held_out, fitted


def citer_signal(network: ConfidenceMlp) -> Signal:
    """The network as the runtime uses it: the large model writes below the threshold."""
    network.eval()

    @torch.no_grad()
    def score(rows: StepRows) -> Tensor:
        return network(rows.hidden.float()).sigmoid()

    return Signal("citer", score, "below")


def load_confidence(path: Path) -> tuple[ConfidenceMlp, float]:
    """A stored head and its threshold. Raises ValueError if the file holds another network."""
    with safe_open(path, "pt") as file:
        metadata = file.metadata() or {}
        tensors = {name: file.get_tensor(name).float() for name in file.keys()}  # noqa: SIM118
    if metadata.get("architecture") != ARCHITECTURE:
        raise ValueError(f"{path} holds {metadata.get('architecture')}, not {ARCHITECTURE}")
    network = ConfidenceMlp(tensors["fc1.weight"].shape[1])
    network.load_state_dict(tensors, strict=False)
    return network.eval(), float(metadata.get("threshold", DEFAULT_THRESHOLD))
