"""Tiny random checkpoints with the family's tokenizer, for tests of the router training."""

from __future__ import annotations

import shutil
from pathlib import Path

import torch
from training.checkpoint import TOKENIZER_FILES
from training.tokenizer import END_ID, PAD_ID
from transformers import GenerationConfig, Qwen3Config, Qwen3ForCausalLM

EMBEDDED = Path(__file__).resolve().parents[2] / "models"
VOCABULARY = 768
# Weights so large that the layers say more than the last token does, and that logits lie apart.
_WEIGHT_SCALE = 0.3


def tiny_checkpoint(directory: Path, seed: int, hidden: int = 32, **changes: object) -> Path:
    """Writes a random Qwen3 of two layers with grouped keys."""
    torch.manual_seed(seed)
    config = Qwen3Config(
        vocab_size=VOCABULARY,
        hidden_size=hidden,
        intermediate_size=2 * hidden,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=hidden // 4,
        max_position_embeddings=128,
        initializer_range=_WEIGHT_SCALE,
        tie_word_embeddings=False,
        eos_token_id=END_ID,
        pad_token_id=PAD_ID,
        **changes,
    )
    model = Qwen3ForCausalLM(config)
    model.generation_config = GenerationConfig(eos_token_id=END_ID, pad_token_id=PAD_ID)
    model.save_pretrained(directory)
    for name in TOKENIZER_FILES:
        shutil.copyfile(EMBEDDED / "small" / name, directory / name)
    return directory
