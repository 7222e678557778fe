"""Writes the README.md (model card) of a shipped model from its evaluation and the facts of its run.

    python -m training.card --size medium --evaluation evaluation.json --run runs/medium \
        --out models/medium/README.md

`--evaluation` is the JSON of `training.evaluate --test`. Without `--run` the training section is taken from
`--training-notes`, a Markdown file, for models that other tools trained.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from training.evaluate import SPLIT_TITLES, markdown
from training.model import SIZES

ROLES = {
    "small": "The small member of the embedded family: trained on few tokens on purpose, so that a larger model "
    "has something to add to it.",
    "medium": "The middle member of the embedded family, between small and large in size and accuracy.",
    "large": "The large member of the embedded family: it solves nearly all problems of the kinds it was trained "
    "on.",
}

HEADER = """---
license: apache-2.0
language: en
library_name: transformers
pipeline_tag: text-generation
tags: [arithmetic, word-problems, token-routing]
---
"""

LIMITS = """## Limits

English word problems of the nine trained kinds, with whole numbers and answers from 0 to 999; it is no general
language model. Free wording is likely to do worse than the unseen sentences above, and other tasks give
nonsense. At most 512 positions; no training row was longer than 480 tokens. Names, objects and sentences are
synthetic; no personal data and no text from elsewhere was used. All figures are greedy: sampling was not measured.
"""


def architecture(size: str) -> str:
    """One paragraph on the shape and the files."""
    c = SIZES[size]
    return (
        f"Qwen3 dense (`Qwen3ForCausalLM`): hidden {c.hidden}, {c.layers} layers, {c.heads} query and "
        f"{c.kv_heads} key heads of {c.head_dim}, MLP {c.intermediate}, tied embeddings, RoPE theta "
        f"{c.rope_theta:g}, {c.max_positions} positions. Weights in bf16. Byte-level BPE of 768 entries, every "
        "digit a token, shared by the family. Prompt: `<|user|>question<|end|><|assistant|>`; the answer reasons "
        "column by column and ends with `The answer is N.<|end|>`."
    )


def training_section(run: dict[str, Any]) -> str:
    """What was run, from run.json."""
    s = run["settings"]
    command = (
        f"python -m training.train --size {s['size']} --tokenizer models/small --out runs/{s['size']} "
        f"--tokens {s['tokens']:g} --seed {s['seed']} --lr {s['lr']:g} --batch-tokens {s['batch_tokens']}"
    )
    return (
        f"One phase from random weights: {run['steps']:,} steps, {run['tokens'] / 1e6:.2f} M tokens of prompts and "
        f"answers, {run['answer_tokens'] / 1e6:.2f} M of them in the loss; {run['seconds'] / 60:.0f} minutes of "
        f"stepping on two CPU cores that were shared with other work; torch {run['torch']}, fp32.\n\n"
        f"```sh\n{command}\n"
        f"python -m training.export --run runs/{s['size']} --tokenizer models/small --out models/{s['size']}\n```"
    )


def only_model(evaluation: dict[str, Any], size: str, routed: bool) -> dict[str, Any]:
    """The evaluation reduced to one model; routing rules only where `routed`."""
    splits = {}
    for split, result in evaluation["splits"].items():
        kept = {**result, "models": {size: result["models"][size]}}
        splits[split] = kept if routed else {**kept, "rules": []}
    return splits


def card(size: str, evaluation: dict[str, Any], training: str) -> str:
    """The whole card."""
    splits = only_model(evaluation, size, routed=size == "large")
    first = next(iter(splits.values()))["models"][size]
    exact = " and ".join(
        f"{result['models'][size]['exact']:.1%} of problems with {SPLIT_TITLES[split]}"
        for split, result in splits.items()
    )
    routed = (
        "\nThe routing tables decode with small and large together, a token at a time: `entropy` takes the large "
        "model's token where the small model's normalised entropy exceeds the threshold, `random` with probability "
        "p.\n"
        if size == "large"
        else ""
    )
    return (
        f"{HEADER}\n# tokenrail {size}\n\n{ROLES[size]} {first['parameters']:,} parameters. Alone it answers {exact} "
        f"exactly.\n\n{architecture(size)}\n\n## Training\n\n{training}\n\nThe data is generated; see "
        "`training/README.md` for the kinds of problems and for what is held out.\n\n## Evaluation\n\n"
        "Greedy, at most 400 new tokens, bf16 weights in fp32 arithmetic, on the shipped test lists, which were used "
        "for nothing else; an answer counts if `The answer is N.` names the exact number. Perplexity: the first 200 "
        "reference answers of a list. The standard error of an accuracy on 400 problems is about 1 point near 95 % "
        f"and 2.5 points near 50 %.\n{routed}\n```sh\npython -m training.evaluate --models models/small models/medium "
        f"models/large --test --route --out evaluation.json\n```\n\n{markdown(splits)}\n{LIMITS}\n## Licence\n\n"
        "Apache-2.0, see `../LICENSE`.\n"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--size", choices=sorted(ROLES), required=True)
    parser.add_argument("--evaluation", type=Path, required=True)
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--run", type=Path, help="run directory with run.json")
    source.add_argument("--training-notes", type=Path, help="Markdown text of the training section")
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    evaluation = json.loads(args.evaluation.read_text(encoding="utf-8"))
    if args.run:
        training = training_section(json.loads((args.run / "run.json").read_text(encoding="utf-8")))
    else:
        training = args.training_notes.read_text(encoding="utf-8").strip()
    args.out.write_text(card(args.size, evaluation, training), encoding="utf-8")


if __name__ == "__main__":
    main()
