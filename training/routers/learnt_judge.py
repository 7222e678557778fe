"""A judge that is learnt from another's verdicts: cheap enough for any number of mismatches.

Letting the large model finish an answer for every mismatch is most of what a collection costs. Whether a mismatch
matters is mostly plain from the two tokens (a digit, or another way to say the same) and from how sure the small model
is, so a small network learns it from some thousand verdicts and gives the probability for the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from training.routers.fit import Batch

TOP = 8
_TOKEN_WIDTH = 16
_HIDDEN_WIDTH = 128
_LEAST_SCALE = 1e-3


class JudgeNetwork(nn.Module):
    """From the small model's features and both tokens to the logit of "divergent"."""

    def __init__(self, features: int, vocabulary: int) -> None:
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, _TOKEN_WIDTH)
        self.layers = nn.Sequential(
            nn.Linear(features + 2 * _TOKEN_WIDTH, _HIDDEN_WIDTH),
            nn.GELU(),
            nn.Dropout(0.2),
            nn.Linear(_HIDDEN_WIDTH, 1),
        )
        self.register_buffer("mean", torch.zeros(features))
        self.register_buffer("scale", torch.ones(features))

    def forward(self, features: Tensor, small: Tensor, large: Tensor) -> Tensor:
        scaled = (features - self.mean) / self.scale
        return self.layers(torch.cat([scaled, self.tokens(small), self.tokens(large)], 1)).squeeze(1)


@dataclass(frozen=True)
class LearntJudge:
    """network with the small model's input embedding [V, H]."""

    network: JudgeNetwork
    embedding: Tensor

    @torch.no_grad()
    def probabilities(self, rows: Batch) -> Tensor:
        """Of "divergent", [rows]: of mismatches; rows on which both models agree are 0."""
        differs = mismatches(rows)
        found = torch.zeros(len(differs))
        if differs.any():
            logits = self.network(*_inputs(rows, differs, self.embedding))
            found[differs] = logits.sigmoid()
        return found


def mismatches(rows: Batch) -> Tensor:
    """Which rows the models differ on."""
    return rows["sampled"] != rows["large"]


def learn(
    judged: Sequence[Batch], embedding: Tensor, epochs: int = 15, batch_rows: int = 256, seed: int = 0
) -> LearntJudge:
    """Fits to the verdicts of all mismatches. Raises ValueError if they are all alike."""
    parts = [_inputs(rows, mismatches(rows), embedding) for rows in judged]
    features, small, large = (torch.cat([part[at] for part in parts]) for at in range(3))
    labels = torch.cat([rows["label"][mismatches(rows)].float() for rows in judged])
    if labels.unique().numel() < 2:
        raise ValueError(f"{len(labels)} judged mismatches, all alike: there is nothing to learn from them")
    torch.manual_seed(seed)
    network = JudgeNetwork(features.shape[1], len(embedding))
    network.mean, network.scale = features.mean(0), features.std(0).clamp(min=_LEAST_SCALE)
    optimiser = torch.optim.AdamW(network.parameters(), lr=2e-3, weight_decay=0.05)
    for _ in range(epochs):
        for chosen in torch.randperm(len(labels)).split(batch_rows):
            logits = network(features[chosen], small[chosen], large[chosen])
            loss = F.binary_cross_entropy_with_logits(logits, labels[chosen])
            optimiser.zero_grad(set_to_none=True)
            loss.backward()
            optimiser.step()
    return LearntJudge(network.eval(), embedding)


def _inputs(rows: Batch, chosen: Tensor, embedding: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    small, large = rows["sampled"][chosen].long(), rows["large"][chosen].long()
    top = rows["top"][chosen][:, :TOP].float()
    features = torch.cat([rows["hidden"][chosen].float(), embedding[small], embedding[large], top], 1)
    return features, small, large
