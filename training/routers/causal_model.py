"""One causal language model of a pair, as hidden vectors and raw logits."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor
from transformers import AutoModelForCausalLM
from transformers.cache_utils import Cache

from training.routers.attention import GROUPED_ATTENTION, register

# Largest difference of lm_head · hidden from the model's own fp32 logits, relative to their size.
_LOGIT_TOLERANCE = 1e-3


class CausalModel:
    """A Hugging Face checkpoint in fp32, without gradients.

    `hidden` is the last layer's output after the final norm: the vector that the head multiplies, and the one
    that the runtime's engine hands to a router's network.
    """

    def __init__(self, directory: Path, device: str = "cpu", attention: str = GROUPED_ATTENTION) -> None:
        """Raises ValueError if the model's logits are not its head times its final state."""
        register()
        self.directory = directory
        module = AutoModelForCausalLM.from_pretrained(
            directory, dtype=torch.float32, attn_implementation=attention
        )
        self.module = module.to(device).eval().requires_grad_(False)
        self.device = torch.device(device)
        self.head = self.module.get_output_embeddings()
        self.hidden_size = int(self.head.weight.shape[1])
        self.vocabulary = int(self.head.weight.shape[0])
        self.max_positions = int(getattr(self.module.config, "max_position_embeddings", 1 << 30))
        self._check_head()

    @property
    def embedding(self) -> Tensor:
        """Input embeddings, [vocabulary, hidden]."""
        return self.module.get_input_embeddings().weight

    @property
    def end_ids(self) -> set[int]:
        """The end tokens of the generation config."""
        ids = self.module.generation_config.eos_token_id
        return set() if ids is None else set(ids) if isinstance(ids, list) else {int(ids)}

    @property
    def has_full_attention(self) -> bool:
        """Whether every layer sees all positions, so that masked ones in between change nothing."""
        config = self.module.config
        kinds = set(getattr(config, "layer_types", None) or ["full_attention"])
        return kinds == {"full_attention"} and not getattr(config, "sliding_window", None)

    @torch.no_grad()
    def states(self, ids: Tensor, mask: Tensor, positions: Tensor, cache: Cache | None = None) -> Tensor:
        """Final normalised states [rows, tokens, hidden].

        ids, positions: [rows, tokens]; mask: [rows, all positions so far], 0 at padding.
        """
        out = self.module.base_model(
            input_ids=ids,
            attention_mask=mask,
            position_ids=positions,
            past_key_values=cache,
            use_cache=cache is not None,
        )
        return out.last_hidden_state

    @torch.no_grad()
    def logits(self, hidden: Tensor) -> Tensor:
        """Raw logits [.., vocabulary]."""
        return self.head(hidden)

    @torch.no_grad()
    def _check_head(self) -> None:
        generator = torch.Generator().manual_seed(0)
        ids = torch.randint(0, self.vocabulary, (1, 8), generator=generator).to(self.device)
        positions = torch.arange(8, device=self.device)[None]
        own = self.module(input_ids=ids).logits
        ours = self.logits(self.states(ids, torch.ones_like(ids), positions))
        if (own - ours).abs().max() > _LOGIT_TOLERANCE * own.abs().max().clamp(min=1):
            raise ValueError(f"{self.directory}: its logits are not its head times its final state")
