"""Writes the golden fixtures under test/fixtures/golden: what transformers computes, for the engine to be compared with.

Three parts, each of which can be made alone (``--parts``):

``tiny``
    Random-weight Llama, Qwen2 and Qwen3 checkpoints of some 100 KB, saved as ordinary Hugging Face directories,
    with the float32 logits and final hidden states of a few token sequences at every position.
``embedded``
    The same goldens, and greedy continuations, for trained checkpoints (``--embedded``). The checkpoints themselves are
    not copied; the sha256 of their weights is recorded so that a test can tell whether goldens and weights belong together.
``tokenizer``
    Encodings and chat-template renderings of the tokenizer of the first ``--embedded`` directory.

``--check`` writes nothing: it recomputes every fixture of the chosen parts from the files on disk and fails on a difference.

Weights are rounded to the stored dtype first and the goldens computed from the reloaded, rounded weights in float32, with
eager attention on one thread, so that an engine that reads the same files is held to arithmetic error only.
"""

import argparse
import json
from pathlib import Path

import torch
import transformers
from safetensors.torch import save_file
from transformers import AutoModelForCausalLM

import golden_cases as cases
from golden_check import check_embedded, check_tiny, check_tokenizer
from golden_records import (
    embedded_golden,
    forward,
    golden_tensors,
    load_model,
    read_json,
    tokenizer_golden,
    versions,
    write_json,
)

ROOT = Path(__file__).resolve().parent.parent
PARTS = ("tiny", "embedded", "tokenizer")
TARGET_LOGIT_STD = 2.0


@torch.no_grad()
def randomise(model, generator):
    """Gives every parameter a scale at which it matters: attention peaked, biases and norm gains away from 0 and 1."""
    for name, weight in sorted(model.named_parameters()):
        if name.endswith("norm.weight"):
            weight.copy_(0.6 + torch.rand(weight.shape, generator=generator))
        elif name.endswith(".bias"):
            weight.copy_(0.6 * torch.randn(weight.shape, generator=generator))
        elif "embed_tokens" in name:
            weight.copy_(torch.randn(weight.shape, generator=generator))
        else:
            gain = 1.3 if "q_proj" in name or "k_proj" in name else 1.0
            weight.copy_(gain / weight.shape[1] ** 0.5 * torch.randn(weight.shape, generator=generator))


def random_sequences(vocab_size, lengths, generator):
    """Token sequences of the given lengths; the longest one repeats a token at once and at a distance."""
    sequences = [torch.randint(0, vocab_size, (n,), generator=generator).tolist() for n in lengths]
    longest = max(sequences, key=len)
    longest[3] = longest[2]
    longest[-1] = longest[0]
    return sequences


def classic_config(directory):
    """Rewrites config.json in the spelling of transformers 4 (rope_theta, rope_scaling, torch_dtype), as most checkpoints have it."""
    path = directory / "config.json"
    config = read_json(path)
    rope = config.pop("rope_parameters")
    config["rope_theta"] = rope.pop("rope_theta")
    config["rope_scaling"] = None if rope["rope_type"] == "default" else rope
    config["torch_dtype"] = config.pop("dtype")
    path.write_text(json.dumps(config, indent=2, sort_keys=True) + "\n", encoding="utf-8")


def make_tiny(spec, directory):
    """Writes one random checkpoint and its goldens."""
    generator = torch.Generator().manual_seed(spec["seed"])
    model = AutoModelForCausalLM.from_config(spec["config"](), attn_implementation="eager").float().eval()
    randomise(model, generator)
    sequences = random_sequences(model.config.vocab_size, spec["lengths"], generator)
    longest = max(sequences, key=len)
    with torch.no_grad():
        model.model.norm.weight.mul_(TARGET_LOGIT_STD / forward(model, longest)[0].std())
    directory.mkdir(parents=True, exist_ok=True)
    for old in (*directory.glob("*.safetensors"), *directory.glob("*.json")):
        old.unlink()
    model.to(spec["dtype"]).save_pretrained(str(directory), max_shard_size=spec["shard"])
    if spec["classic"]:
        classic_config(directory)
    tensors = golden_tensors(load_model(directory), sequences)
    save_file(tensors, str(directory / "golden.safetensors"))
    write_json(directory / "golden.json", {
        "name": spec["name"],
        "weights": "random",
        "storedDtype": str(spec["dtype"]).removeprefix("torch."),
        "vocabSize": model.config.vocab_size,
        "hiddenSize": model.config.hidden_size,
        "sequences": [{"ids": ids} for ids in sequences],
        "generatedWith": versions(),
    })


def make_embedded(source, directory):
    """Writes the goldens of one trained checkpoint."""
    record, tensors = embedded_golden(source)
    directory.mkdir(parents=True, exist_ok=True)
    save_file(tensors, str(directory / "golden.safetensors"))
    write_json(directory / "golden.json", record)


def make_tokenizer(source, path):
    """Writes the goldens of one tokenizer and its chat template."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_json(path, tokenizer_golden(source))


def parse_args():
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--out", type=Path, default=ROOT / "test/fixtures/golden", help="fixture directory")
    parser.add_argument("--embedded", type=Path, nargs="+", metavar="DIR", default=[ROOT / "models/small", ROOT / "models/large"],
                        help="trained checkpoints; the fixture is called embedded-<last part of DIR>")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS), help="what to make (default: all)")
    parser.add_argument("--check", action="store_true", help="recompute and compare instead of writing")
    return parser.parse_args()


def main():
    """Makes or checks the chosen parts."""
    args = parse_args()
    transformers.utils.logging.disable_progress_bar()
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    if "tiny" in args.parts:
        for spec in cases.TINY:
            (check_tiny if args.check else make_tiny)(spec, args.out / spec["name"])
    if "embedded" in args.parts:
        for source in args.embedded:
            (check_embedded if args.check else make_embedded)(source, args.out / f"embedded-{source.name}")
    if "tokenizer" in args.parts:
        (check_tokenizer if args.check else make_tokenizer)(args.embedded[0], args.out / "tokenizer.json")
    print("checked" if args.check else "written", ", ".join(args.parts))


if __name__ == "__main__":
    main()
