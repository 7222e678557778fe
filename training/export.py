"""Turns a finished run into a Hugging Face model directory (bf16).

python -m training.export --run runs/large --tokenizer models/large --out models/large
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from training.checkpoint import load_weights, save_model
from training.tokenizer import load_tokenizer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--run", type=Path, required=True, help="run directory of training.train")
    parser.add_argument("--tokenizer", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    facts = json.loads((args.run / "run.json").read_text(encoding="utf-8"))
    vocabulary = load_tokenizer(args.tokenizer).get_vocab_size()
    model = load_weights(facts["settings"]["size"], vocabulary, args.run / "weights.pt")
    args.out.mkdir(parents=True, exist_ok=True)
    difference = save_model(model, args.out, args.tokenizer)
    print(f"{args.out}: fp32 logits within {difference:.1e} of transformers'")


if __name__ == "__main__":
    main()
