"""What golden.py records of a checkpoint or tokenizer: forward passes, greedy continuations, encodings, renderings."""

import hashlib
import json
from pathlib import Path

import torch
import transformers
from transformers import AutoModelForCausalLM, AutoTokenizer

import golden_cases as cases

GREEDY_TOKENS = 64


def sha256(path):
    """Hex digest of a file."""
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def write_json(path, value):
    """Writes JSON with one line per element of a list of objects, so that id lists do not take a line per number."""

    def block(item, indent):
        pad = " " * indent
        if isinstance(item, dict) and item:
            rows = [f"{pad} {json.dumps(k)}: {block(v, indent + 1)}" for k, v in item.items()]
            return "{\n" + ",\n".join(rows) + f"\n{pad}}}"
        if isinstance(item, list) and item and isinstance(item[0], dict):
            rows = [f"{pad} {block(v, indent + 1)}" for v in item]
            return "[\n" + ",\n".join(rows) + f"\n{pad}]"
        return json.dumps(item, ensure_ascii=True)

    Path(path).write_text(block(value, 0) + "\n", encoding="ascii")


def read_json(path):
    """Reads a JSON file."""
    return json.loads(Path(path).read_text(encoding="utf-8"))


def versions():
    """The libraries whose arithmetic the goldens record."""
    return {"torch": torch.__version__.split("+")[0], "transformers": transformers.__version__}


def load_model(directory, dtype=torch.float32):
    """A checkpoint of whatever stored dtype, computing in ``dtype`` with eager attention."""
    model = AutoModelForCausalLM.from_pretrained(str(directory), dtype=dtype, attn_implementation="eager")
    return model.eval()


@torch.no_grad()
def forward(model, ids):
    """Logits ``[n, vocab]`` and the hidden state after the final norm ``[n, hidden]`` of one sequence."""
    hidden = model.model(input_ids=torch.tensor([ids]), use_cache=False).last_hidden_state
    return model.lm_head(hidden)[0].contiguous(), hidden[0].contiguous()


@torch.no_grad()
def forward_cached(model, ids):
    """The same logits, one token at a time over a key/value cache."""
    rows, cache = [], None
    for token in ids:
        out = model(input_ids=torch.tensor([[token]]), past_key_values=cache, use_cache=True)
        rows.append(out.logits[0, 0])
        cache = out.past_key_values
    return torch.stack(rows)


def golden_tensors(model, sequences):
    """``logits.<i>`` and ``hidden.<i>`` of every sequence."""
    tensors = {}
    for index, ids in enumerate(sequences):
        tensors[f"logits.{index}"], tensors[f"hidden.{index}"] = forward(model, ids)
    return tensors


def encode(tokenizer, text):
    """Ids of a text in which special tokens are recognised and none is added."""
    return tokenizer.encode(text, add_special_tokens=False)


@torch.no_grad()
def greedy(model, tokenizer, question):
    """64 greedy tokens after a question, and the smallest lead of a chosen logit over the runner-up."""
    messages = [{"role": "user", "content": question}]
    prompt = tokenizer.apply_chat_template(messages, add_generation_prompt=True, tokenize=False)
    prompt_ids = encode(tokenizer, prompt)
    inputs = torch.tensor([prompt_ids])
    out = model.generate(inputs, attention_mask=torch.ones_like(inputs), do_sample=False, max_new_tokens=GREEDY_TOKENS)
    ids = out[0, len(prompt_ids):].tolist()
    logits = forward(model, prompt_ids + ids)[0][len(prompt_ids) - 1:-1]
    if logits.argmax(-1).tolist() != ids:
        raise SystemExit(f"generate and a full forward pass disagree after: {question}")
    top = logits.topk(2).values
    return {
        "question": question,
        "promptIds": prompt_ids,
        "ids": ids,
        "finish": "stop" if ids[-1] == tokenizer.eos_token_id else "length",
        "minMargin": round(float((top[:, 0] - top[:, 1]).min()), 4),
        "text": tokenizer.decode(ids),
    }


def embedded_golden(source):
    """JSON and tensors of one trained checkpoint."""
    model, tokenizer = load_model(source), AutoTokenizer.from_pretrained(str(source))
    sequences = [{"text": text, "ids": encode(tokenizer, text)} for text in cases.CONVERSATIONS]
    record = {
        "name": source.name,
        "weights": "trained",
        "modelSha256": sha256(source / "model.safetensors"),
        "tokenizerSha256": sha256(source / "tokenizer.json"),
        "vocabSize": model.config.vocab_size,
        "hiddenSize": model.config.hidden_size,
        "sequences": sequences,
        "greedyMaxTokens": GREEDY_TOKENS,
        "greedy": [greedy(model, tokenizer, question) for question in cases.QUESTIONS],
        "generatedWith": versions(),
    }
    return record, golden_tensors(model, [s["ids"] for s in sequences])


def tokenizer_golden(source):
    """Encodings and renderings; ``plainIds`` is the text encoded with special tokens taken as ordinary characters."""
    tokenizer = AutoTokenizer.from_pretrained(str(source))
    encodings = []
    for text in cases.TEXTS:
        ids = encode(tokenizer, text)
        plain = tokenizer.encode(text, add_special_tokens=False, split_special_tokens=True)
        encodings.append({"text": text, "ids": ids, "decoded": tokenizer.decode(ids), "plainIds": plain})
    chats = []
    for messages, prompt in cases.CHATS:
        options = {"add_generation_prompt": prompt}
        rendered = tokenizer.apply_chat_template(messages, tokenize=False, **options)
        ids = tokenizer.apply_chat_template(messages, tokenize=True, return_dict=True, **options)["input_ids"]
        chats.append({"messages": messages, "addGenerationPrompt": prompt, "rendered": rendered, "ids": ids})
    return {
        "tokenizerSha256": sha256(source / "tokenizer.json"),
        "tokenizerConfigSha256": sha256(source / "tokenizer_config.json"),
        "encodings": encodings,
        "chats": chats,
        "generatedWith": versions(),
    }
