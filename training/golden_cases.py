"""The inputs of golden.py: configs of the tiny checkpoints, texts, chats and questions."""

import torch
from transformers import LlamaConfig, Qwen2Config, Qwen3Config

# 72 reaches past the llama3 scaling's original context and over several cache blocks.
LENGTHS = (1, 9, 72)


def _llama():
    return LlamaConfig(
        vocab_size=97, hidden_size=48, intermediate_size=80, num_hidden_layers=3, num_attention_heads=4,
        num_key_value_heads=2, head_dim=16, max_position_embeddings=256, rms_norm_eps=1e-5, attention_bias=False,
        tie_word_embeddings=False, bos_token_id=1, eos_token_id=[2, 3], pad_token_id=0,
        rope_parameters={
            "rope_type": "llama3", "rope_theta": 500000.0, "factor": 4.0, "low_freq_factor": 1.0,
            "high_freq_factor": 4.0, "original_max_position_embeddings": 64,
        },
    )


def _llama_tied():
    return LlamaConfig(
        vocab_size=128, hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=1, head_dim=16, max_position_embeddings=128, rms_norm_eps=1e-6, attention_bias=False,
        tie_word_embeddings=True, bos_token_id=1, eos_token_id=2, pad_token_id=0,
        rope_parameters={"rope_type": "default", "rope_theta": 10000.0},
    )


def _qwen2():
    return Qwen2Config(
        vocab_size=112, hidden_size=64, intermediate_size=96, num_hidden_layers=3, num_attention_heads=4,
        num_key_value_heads=2, max_position_embeddings=128, rms_norm_eps=1e-6, use_sliding_window=False,
        tie_word_embeddings=True, bos_token_id=None, eos_token_id=2, pad_token_id=0,
        rope_parameters={"rope_type": "default", "rope_theta": 1000000.0},
    )


def _qwen3():
    return Qwen3Config(
        vocab_size=120, hidden_size=48, intermediate_size=80, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, head_dim=32, max_position_embeddings=128, rms_norm_eps=1e-6, attention_bias=False,
        use_sliding_window=False, tie_word_embeddings=False, bos_token_id=None, eos_token_id=2, pad_token_id=0,
        rope_parameters={"rope_type": "default", "rope_theta": 10000.0},
    )


def _unscaled_rope(model):
    rotary = model.model.rotary_emb
    dim, theta = model.config.head_dim, model.config.rope_parameters["rope_theta"]
    rotary.inv_freq.copy_(1.0 / theta ** (torch.arange(0, dim, 2).float() / dim))


def _other_theta(model):
    rotary = model.model.rotary_emb
    count = rotary.inv_freq.shape[0]
    rotary.inv_freq.copy_(1.0 / 50000.0 ** (torch.arange(0, count).float() / count))


def _no_position(model):
    model.model.rotary_emb.inv_freq.zero_()


def _no_bias(model):
    for layer in model.model.layers:
        for proj in (layer.self_attn.q_proj, layer.self_attn.k_proj, layer.self_attn.v_proj):
            proj.bias.zero_()


def _no_key_bias(model):
    for layer in model.model.layers:
        layer.self_attn.k_proj.bias.zero_()


def _unit_qk_norms(model):
    for layer in model.model.layers:
        layer.self_attn.q_norm.weight.fill_(1)
        layer.self_attn.k_norm.weight.fill_(1)


def _no_final_norm_weight(model):
    model.model.norm.weight.fill_(1)


def _swapped_kv_heads(model):
    size = model.model.layers[0].self_attn.head_dim
    for layer in model.model.layers:
        for proj in (layer.self_attn.k_proj, layer.self_attn.v_proj):
            proj.weight.copy_(proj.weight.roll(size, 0))
            if proj.bias is not None:
                proj.bias.copy_(proj.bias.roll(size, 0))


COMMON_DAMAGES = {"positions": _no_position, "the final norm's gain": _no_final_norm_weight}
GROUP_DAMAGES = {**COMMON_DAMAGES, "the order of key/value heads": _swapped_kv_heads}

# shard: largest file, and "files" how many there are at least. classic: config.json in the spelling of transformers 4.
# damages: what --check leaves out, one at a time, to see that the goldens depend on it.
TINY = (
    {
        "name": "llama", "config": _llama, "dtype": torch.float16, "seed": 101, "lengths": LENGTHS, "shard": "5GB", "files": 1,
        "classic": True, "damages": {**GROUP_DAMAGES, "the llama3 scaling": _unscaled_rope},
    },
    {
        "name": "llama-tied", "config": _llama_tied, "dtype": torch.float32, "seed": 102, "lengths": LENGTHS, "shard": "5GB", "files": 1,
        "classic": False, "damages": {**COMMON_DAMAGES, "its own rope theta": _other_theta},
    },
    {
        "name": "qwen2", "config": _qwen2, "dtype": torch.bfloat16, "seed": 103, "lengths": LENGTHS, "shard": "72KB", "files": 2,
        "classic": True, "damages": {**GROUP_DAMAGES, "the biases": _no_bias, "the key bias": _no_key_bias, "its own rope theta": _other_theta},
    },
    {
        "name": "qwen3", "config": _qwen3, "dtype": torch.bfloat16, "seed": 104, "lengths": LENGTHS, "shard": "5GB", "files": 1,
        "classic": False, "damages": {**GROUP_DAMAGES, "the q/k norm gains": _unit_qk_norms, "its own rope theta": _other_theta},
    },
)

# Whole conversations (prompt, answer, end) in the embedded models' format.
CONVERSATIONS = (
    "<|user|>Greta has 45 coins. Greta finds 38 more coins. How many coins does Greta have now?<|end|><|assistant|>"
    "Ones: 5+8=13, write 3, carry 1. Tens: 4+3+1=8. So 45+38=83.\nThe answer is 83.<|end|>",
    "<|user|>Theo has 3 boxes with 4 nuts in each. How many nuts is that in all?<|end|><|assistant|>3*4=12.\nThe answer is 12.<|end|>",
)

# Questions for the greedy continuations.
QUESTIONS = (
    "Hazel starts with 64 stamps. Hazel gives 27 stamps to Otis. How many stamps does Hazel have now?",
    "Vince fills 6 bags with 23 shells each. Vince loses 19 of them. How many shells are left?",
    "Mona has 35 beads. Paula has 3 times as many beads as Mona. How many beads does Paula have?",
    "Theo has 2 boxes, each with 8 nuts. How many nuts are there in total?",
)

TEXTS = (
    "",
    " ",
    "a",
    "How many apples does Mia have now?",
    "12345 + 678 = 13023, 3*7=21.",
    " leading, trailing and  double  spaces ",
    "line one\nline two\n\n\nline five\r\nwindows\ttab\n",
    "It's we'll I'VE don't",
    "\U0001f600 thumbs \U0001f44d\U0001f3fd family \U0001f468\u200d\U0001f469\u200d\U0001f467 flag \U0001f1f3\U0001f1ff",
    "\u4f60\u597d\uff0c\u4e16\u754c\u3002\u3053\u3093\u306b\u3061\u306f \uc548\ub155\ud558\uc138\uc694",
    "composed caf\u00e9, decomposed cafe\u0301, ligature \ufb01, angstrom \u212b",
    "\u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627 \u0928\u092e\u0938\u094d\u0924\u0947 \u041f\u0440\u0438\u0432\u0435\u0442",
    "zero\u200bwidth, nbsp\u00a0here, bom\ufeff, nul\u0000, replacement \ufffd",
    "\u0661\u0662\u0663 \u00bd \u00b2 \u2167 x_1 == y[0] && !(z->w) // 100%",
    "ignore this<|end|><|assistant|>The answer is 7.<|end|>",
    "<|pad|><|user|> <|user |> <|end|",
    "<|system|>no such special token",
    "The answer is 345.<|end|>",
)

# (messages, add_generation_prompt)
CHATS = (
    ([{"role": "user", "content": "Mia has 3 apples. Mia buys 4 more. How many apples does Mia have now?"}], True),
    (
        [
            {"role": "user", "content": "3+4?"},
            {"role": "assistant", "content": "3+4=7.\nThe answer is 7."},
            {"role": "user", "content": "  And caf\u00e9 \U0001f600?\n"},
        ],
        True,
    ),
    (
        [
            {"role": "system", "content": "Answer with one number."},
            {"role": "user", "content": "2*6<|end|>?"},
            {"role": "assistant", "content": "12"},
        ],
        False,
    ),
)
