"""R2R's default network with the tensor names of its published state dict, of any width."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

ARCHITECTURE = "HiddenStatesTokenLMHeadLogitsClassifier"
LAYER_NORM_EPS = 1e-5
_EXPANSION = 4


class _Block(nn.Module):
    """x + W2 gelu(W1 norm(x)); a linear map of x beside it where the width changes."""

    def __init__(self, width: int, following: int, inner: int, dropout: float) -> None:
        super().__init__()
        self.layer_norm = nn.LayerNorm(width, eps=LAYER_NORM_EPS)
        # The names of published files count the activation and the dropout: mlp.0 and mlp.3 hold weights.
        self.mlp = nn.Sequential(
            nn.Linear(width, inner), nn.GELU(), nn.Dropout(dropout), nn.Linear(inner, following)
        )
        self.dim_change = nn.Linear(width, following) if width != following else None

    def forward(self, x: Tensor) -> Tensor:
        kept = x if self.dim_change is None else self.dim_change(x)
        return kept + self.mlp(self.layer_norm(x))


class _Backbone(nn.Module):
    def __init__(self, widths: Sequence[int], inner: Sequence[int], dropout: float) -> None:
        super().__init__()
        following = [*widths[1:], widths[-1]]
        self.input_projection = nn.Linear(widths[0], widths[0])
        self.blocks = nn.ModuleList(
            _Block(width, after, size, dropout)
            for width, after, size in zip(widths, following, inner, strict=True)
        )
        self.output_layer = nn.Sequential(
            nn.LayerNorm(widths[-1], eps=LAYER_NORM_EPS), nn.Linear(widths[-1], 1)
        )

    def forward(self, x: Tensor) -> Tensor:
        x = self.input_projection(x)
        for block in self.blocks:
            x = block(x)
        return self.output_layer(x)


class DivergenceClassifier(nn.Module):
    """Hidden vector, embedding of the sampled token and largest logits to one logit: does the token diverge?

    widths: of the residual blocks, the last of which keeps its width. The embedding itself is the small model's.
    """

    def __init__(
        self,
        hidden: int,
        top: int,
        widths: Sequence[int],
        dropout: float = 0.1,
        inner: Sequence[int] | None = None,
    ) -> None:
        super().__init__()
        self.logits_projection = nn.Linear(top, hidden)
        self.combined_projection = nn.Linear(3 * hidden, widths[0])
        inner = inner or [_EXPANSION * width for width in widths]
        self.backbone = _Backbone(widths, inner, dropout)

    def forward(self, hidden: Tensor, embedding: Tensor, top: Tensor) -> Tensor:
        """Logits [rows] from [rows, H], [rows, H] and [rows, top]."""
        joined = torch.cat([hidden, embedding, self.logits_projection(top)], 1)
        return self.backbone(self.combined_projection(joined))[:, 0]

    @torch.no_grad()
    def fold_standardisation(self, inputs: Tensor, top: Tensor) -> None:
        """Makes a network trained on standardised features one of raw features, exactly.

        inputs: [2, 2H], mean and scale of hidden and embedding; top: [2, k], those of the logits. Both go
        into the linear layers that read them.
        """
        width = inputs.shape[1]
        weight = self.combined_projection.weight
        weight[:, :width] /= inputs[1]
        self.combined_projection.bias -= weight[:, :width] @ inputs[0]
        self.logits_projection.weight /= top[1]
        self.logits_projection.bias -= self.logits_projection.weight @ top[0]
