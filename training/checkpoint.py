"""Model directories in the Hugging Face layout: reading them, and writing trained weights as one."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, GenerationConfig, Qwen3Config, Qwen3ForCausalLM

from training.decode import MAX_NEW_TOKENS
from training.model import RMS_EPS, SIZES, LanguageModel, ModelConfig
from training.tokenizer import END_ID, PAD_ID

TOKENIZER_FILES = ("tokenizer.json", "tokenizer_config.json")
# Largest difference of the two implementations' fp32 logits that export accepts.
LOGIT_TOLERANCE = 1e-3


def load_model(directory: Path) -> LanguageModel:
    """A model directory in fp32 arithmetic (weights as stored, usually rounded to bf16)."""
    reference = AutoModelForCausalLM.from_pretrained(directory, dtype=torch.float32)
    stored = reference.config
    config = ModelConfig(
        hidden=stored.hidden_size,
        layers=stored.num_hidden_layers,
        heads=stored.num_attention_heads,
        kv_heads=stored.num_key_value_heads,
        intermediate=stored.intermediate_size,
        head_dim=stored.head_dim,
        max_positions=stored.max_position_embeddings,
        rope_theta=stored.rope_parameters["rope_theta"],
    )
    model = LanguageModel(config, stored.vocab_size)
    weights = reference.state_dict()
    weights.pop("lm_head.weight", None)
    model.load_state_dict(weights)
    return model.eval()


def load_weights(size: str, vocabulary: int, file: Path) -> LanguageModel:
    """The fp32 weights of a finished run, or those inside a checkpoint."""
    state = torch.load(file, weights_only=True)
    model = LanguageModel(SIZES[size], vocabulary)
    model.load_state_dict(state.get("model", state))
    return model.eval()


def _hf_config(model: LanguageModel) -> Qwen3Config:
    config = model.config
    return Qwen3Config(
        vocab_size=model.vocabulary,
        hidden_size=config.hidden,
        intermediate_size=config.intermediate,
        num_hidden_layers=config.layers,
        num_attention_heads=config.heads,
        num_key_value_heads=config.kv_heads,
        head_dim=config.head_dim,
        max_position_embeddings=config.max_positions,
        rms_norm_eps=RMS_EPS,
        tie_word_embeddings=True,
        eos_token_id=END_ID,
        pad_token_id=PAD_ID,
        bos_token_id=None,
        use_cache=True,
        rope_parameters={"rope_type": "default", "rope_theta": config.rope_theta},
    )


@torch.no_grad()
def _largest_difference(model: LanguageModel, reference: Qwen3ForCausalLM) -> float:
    generator = torch.Generator().manual_seed(0)
    ids = torch.randint(0, model.vocabulary, (2, 40), generator=generator)
    return (reference(ids).logits - model(ids)).abs().max().item()


def save_model(model: LanguageModel, out: Path, tokenizer: Path) -> float:
    """Writes a bf16 model directory; returns the fp32 logit difference from transformers.

    Raises ValueError if transformers computes something else from the same weights.
    """
    reference = Qwen3ForCausalLM(_hf_config(model))
    outcome = reference.load_state_dict(model.state_dict(), strict=False)
    if outcome.unexpected_keys or set(outcome.missing_keys) - {"lm_head.weight"}:
        raise ValueError(f"weights do not fit transformers' Qwen3: {outcome}")
    reference.tie_weights()
    reference.eval()
    difference = _largest_difference(model, reference)
    if not difference < LOGIT_TOLERANCE:
        raise ValueError(f"logits differ from transformers' by {difference}")
    reference = reference.to(torch.bfloat16)
    reference.config.dtype = "bfloat16"
    reference.generation_config = GenerationConfig(
        eos_token_id=END_ID, pad_token_id=PAD_ID, do_sample=False, max_new_tokens=MAX_NEW_TOKENS
    )
    reference.save_pretrained(out)
    _write_rope_theta(out / "config.json", model.config.rope_theta)
    for name in TOKENIZER_FILES:
        if (tokenizer / name).resolve() != (out / name).resolve():
            shutil.copyfile(tokenizer / name, out / name)
    for path in out.iterdir():
        path.chmod(0o644)
    return difference


def _write_rope_theta(path: Path, theta: float) -> None:
    """Readers older than transformers 5 look for rope_theta at the top level."""
    config = json.loads(path.read_text(encoding="utf-8"))
    config["rope_theta"] = theta
    path.write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
