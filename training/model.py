"""Qwen3's dense decoder in plain PyTorch, small enough to train on two CPU cores.

Parameter names are those of transformers' Qwen3ForCausalLM, so a state dict goes over unchanged.
Attention is written as plain matrix products: on a CPU the backward pass of the fused attention
takes more time than all the rest of a step of this size.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

RMS_EPS = 1e-6
MASKED = -1e9


@dataclass(frozen=True)
class ModelConfig:
    """Shape of one size of the family."""

    hidden: int
    layers: int
    heads: int
    kv_heads: int
    intermediate: int
    head_dim: int = 32
    max_positions: int = 512
    rope_theta: float = 10000.0


SIZES: dict[str, ModelConfig] = {
    "tiny": ModelConfig(hidden=64, layers=2, heads=2, kv_heads=1, intermediate=128),
    "small": ModelConfig(hidden=96, layers=4, heads=3, kv_heads=1, intermediate=256),
    "medium": ModelConfig(hidden=128, layers=5, heads=4, kv_heads=2, intermediate=384),
    "large": ModelConfig(hidden=192, layers=6, heads=6, kv_heads=2, intermediate=512),
}
"""tiny is for tests only."""


@dataclass
class Positions:
    """What attention needs to know about the tokens of one call.

    cos, sin: broadcastable to [batch, heads, tokens, head_dim / 2].
    mask: added to the scores, [batch or 1, tokens, keys].
    index: the position of each row's single token when decoding, else None.
    """

    cos: Tensor
    sin: Tensor
    mask: Tensor
    index: Tensor | None


@dataclass
class LayerCache:
    """Keys and values of one layer, [batch, kv_heads, positions, head_dim], written in place."""

    keys: Tensor
    values: Tensor

    def select(self, rows: Tensor) -> LayerCache:
        """The cache of some rows only."""
        return LayerCache(self.keys[rows], self.values[rows])


class RmsNorm(nn.Module):
    def __init__(self, size: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))

    def forward(self, x: Tensor) -> Tensor:
        return F.rms_norm(x, (x.shape[-1],), self.weight, RMS_EPS)


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotary embedding, the halves of the head paired (Su et al. 2021, in GPT-NeoX's layout)."""
    first, second = x.chunk(2, -1)
    return torch.cat((first * cos - second * sin, second * cos + first * sin), -1)


class Attention(nn.Module):
    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.heads, self.kv_heads, self.head_dim = config.heads, config.kv_heads, config.head_dim
        q_size, kv_size = config.heads * config.head_dim, config.kv_heads * config.head_dim
        self.q_proj = nn.Linear(config.hidden, q_size, bias=False)
        self.k_proj = nn.Linear(config.hidden, kv_size, bias=False)
        self.v_proj = nn.Linear(config.hidden, kv_size, bias=False)
        self.o_proj = nn.Linear(q_size, config.hidden, bias=False)
        self.q_norm = RmsNorm(config.head_dim)
        self.k_norm = RmsNorm(config.head_dim)

    def forward(self, x: Tensor, at: Positions, cache: LayerCache | None) -> Tensor:
        batch, tokens, _ = x.shape
        queries = self.q_norm(self.q_proj(x).view(batch, tokens, self.heads, self.head_dim))
        keys = self.k_norm(self.k_proj(x).view(batch, tokens, self.kv_heads, self.head_dim))
        values = self.v_proj(x).view(batch, tokens, self.kv_heads, self.head_dim).transpose(1, 2)
        # Scaling the queries touches far less memory than scaling the scores.
        queries = rotate(queries.transpose(1, 2) * self.head_dim**-0.5, at.cos, at.sin)
        keys = rotate(keys.transpose(1, 2), at.cos, at.sin)
        if cache is not None:
            keys, values = self._through_cache(cache, keys, values, at)
        # The query heads of one key head are folded into rows, so that no key is copied.
        group = self.heads // self.kv_heads
        folded = queries.reshape(batch * self.kv_heads, group * tokens, self.head_dim)
        per_row = at.mask.shape[0] > 1
        mask = at.mask.repeat_interleave(self.kv_heads, 0) if per_row else at.mask
        mask = mask.repeat(1, group, 1)
        # One call multiplies and masks: a separate addition would pass over all scores again.
        scores = torch.baddbmm(mask, folded, keys.flatten(0, 1).transpose(1, 2))
        mixed = torch.bmm(scores.softmax(-1), values.flatten(0, 1))
        mixed = mixed.view(batch, self.heads, tokens, self.head_dim)
        return self.o_proj(mixed.transpose(1, 2).reshape(batch, tokens, -1))

    @staticmethod
    def _through_cache(
        cache: LayerCache, keys: Tensor, values: Tensor, at: Positions
    ) -> tuple[Tensor, Tensor]:
        """Stores the new keys and values; returns those the queries may look at."""
        if at.index is None:
            tokens = keys.shape[2]
            cache.keys[:, :, :tokens] = keys
            cache.values[:, :, :tokens] = values
            return keys, values
        rows = torch.arange(keys.shape[0])
        cache.keys[rows, :, at.index] = keys[:, :, 0]
        cache.values[rows, :, at.index] = values[:, :, 0]
        seen = at.mask.shape[-1]
        return cache.keys[:, :, :seen], cache.values[:, :, :seen]


class Mlp(nn.Module):
    def __init__(self, hidden: int, intermediate: int) -> None:
        super().__init__()
        self.gate_proj = nn.Linear(hidden, intermediate, bias=False)
        self.up_proj = nn.Linear(hidden, intermediate, bias=False)
        self.down_proj = nn.Linear(intermediate, hidden, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))


class DecoderLayer(nn.Module):
    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.self_attn = Attention(config)
        self.mlp = Mlp(config.hidden, config.intermediate)
        self.input_layernorm = RmsNorm(config.hidden)
        self.post_attention_layernorm = RmsNorm(config.hidden)

    def forward(self, x: Tensor, at: Positions, cache: LayerCache | None) -> Tensor:
        x = x + self.self_attn(self.input_layernorm(x), at, cache)
        return x + self.mlp(self.post_attention_layernorm(x))


class Decoder(nn.Module):
    def __init__(self, config: ModelConfig, vocabulary: int) -> None:
        super().__init__()
        self.embed_tokens = nn.Embedding(vocabulary, config.hidden)
        self.layers = nn.ModuleList(DecoderLayer(config) for _ in range(config.layers))
        self.norm = RmsNorm(config.hidden)


class LanguageModel(nn.Module):
    """The decoder with its head tied to the embedding."""

    def __init__(self, config: ModelConfig, vocabulary: int) -> None:
        super().__init__()
        self.config = config
        self.vocabulary = vocabulary
        self.model = Decoder(config, vocabulary)
        half = torch.arange(0, config.head_dim, 2) / config.head_dim
        angles = torch.outer(torch.arange(config.max_positions).float(), config.rope_theta**-half)
        self.register_buffer("cos", angles.cos(), persistent=False)
        self.register_buffer("sin", angles.sin(), persistent=False)
        self._initialise()

    def _initialise(self) -> None:
        """N(0, 1/fan_in), residual outputs smaller by sqrt(2 layers), embeddings 0.02."""
        for name, parameter in self.named_parameters():
            if parameter.dim() != 2:
                continue
            std = 1 / math.sqrt(parameter.shape[1])
            if "embed" in name:
                std = 0.02
            elif "o_proj" in name or "down_proj" in name:
                std /= math.sqrt(2 * self.config.layers)
            nn.init.normal_(parameter, std=std)

    def _prefill_positions(self, tokens: int) -> Positions:
        mask = torch.full((1, tokens, tokens), MASKED).triu(1)
        return Positions(self.cos[:tokens], self.sin[:tokens], mask, None)

    def _decode_positions(self, index: Tensor) -> Positions:
        keys = torch.arange(int(index.max()) + 1)
        hidden = keys[None] > index[:, None]
        mask = torch.zeros(hidden.shape).masked_fill_(hidden, MASKED)
        cos, sin = self.cos[index][:, None, None], self.sin[index][:, None, None]
        return Positions(cos, sin, mask[:, None], index)

    def hidden_states(
        self, ids: Tensor, cache: list[LayerCache] | None = None, index: Tensor | None = None
    ) -> Tensor:
        """Final normalised states [batch, tokens, hidden].

        index: position of each row's one new token, when decoding with a filled cache.
        """
        x = self.model.embed_tokens(ids)
        if index is None:
            at = self._prefill_positions(ids.shape[1])
        else:
            at = self._decode_positions(index)
        for number, layer in enumerate(self.model.layers):
            x = layer(x, at, cache[number] if cache is not None else None)
        return self.model.norm(x)

    def forward(
        self, ids: Tensor, cache: list[LayerCache] | None = None, index: Tensor | None = None
    ) -> Tensor:
        """Logits [batch, tokens, vocabulary]."""
        return F.linear(self.hidden_states(ids, cache, index), self.model.embed_tokens.weight)

    def loss(self, ids: Tensor, chosen: Tensor, targets: Tensor) -> Tensor:
        """Mean cross entropy at the flat positions `chosen`; no logits are made elsewhere."""
        states = self.hidden_states(ids).flatten(0, 1)[chosen]
        logits = F.linear(states, self.model.embed_tokens.weight)
        return F.cross_entropy(logits, targets)

    def new_cache(self, batch: int, positions: int) -> list[LayerCache]:
        """Empty caches for all layers."""
        shape = (batch, self.config.kv_heads, positions, self.config.head_dim)
        return [LayerCache(torch.zeros(shape), torch.zeros(shape)) for _ in range(self.config.layers)]

    def parameter_count(self) -> int:
        """Parameters, the tied embedding counted once."""
        return sum(parameter.numel() for parameter in self.parameters())
