"""Collects a router's training rows for a pair of models.

    python -m training.routers.collect --algorithm r2r --small models/small --large models/large \\
        --problems embedded:2000:1 --out runs/r2r

--problems: `FILE.jsonl` with `question`, `answer`?, `solution`? per line, or `embedded:COUNT:SEED`, problems of
the embedded family's training split. Options of an algorithm: `--algorithm NAME --help`.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import torch

from training.decode import MAX_NEW_TOKENS
from training.routers.attention import GROUPED_ATTENTION
from training.routers.pair import load_pair
from training.routers.prompts import training_questions
from training.routers.registry import ALGORITHMS, algorithm_module


def positive(text: str) -> int:
    """argparse type: an integer of 1 or more."""
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f'"{text}" is no integer of 1 or more')
    return int(text)


def device(text: str) -> str:
    """argparse type: where this machine's torch can put a tensor."""
    try:
        torch.empty(0, device=text)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).partition("\n")[0]
        raise argparse.ArgumentTypeError(f'"{text}" is no device to be had here: {reason}') from error
    return text


def add_pair_options(parser: argparse.ArgumentParser) -> None:
    """The options by which `pair_of` loads both models."""
    parser.add_argument("--small", type=Path, required=True, help="checkpoint directory")
    parser.add_argument("--large", type=Path, required=True, help="checkpoint directory")
    parser.add_argument(
        "--device", type=device, default="cpu", help="where both models run, such as cuda (default: cpu)"
    )
    parser.add_argument("--attention", default=GROUPED_ATTENTION, help="transformers' attn_implementation")
    parser.add_argument("--max-new-tokens", type=positive, default=MAX_NEW_TOKENS, help="longest answer")
    # Single-token products are too small to split: more threads mostly wait for each other.
    parser.add_argument("--threads", type=positive, default=1)


def parse(parser: argparse.ArgumentParser, options: str, arguments: list[str] | None) -> argparse.Namespace:
    """Parses with the algorithm's own options (`add_collect_options` or `add_train_options`) added."""
    parser.add_argument("--algorithm", choices=list(ALGORITHMS), required=True)
    known, _ = _without_help(parser).parse_known_args(arguments)
    if known.algorithm in ALGORITHMS:
        getattr(algorithm_module(known.algorithm), options)(parser)
    args = parser.parse_args(arguments)
    torch.set_num_threads(args.threads)
    return args


def _without_help(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    """A parser of --algorithm alone that leaves --help and mistakes to the full one."""
    first = argparse.ArgumentParser(prog=parser.prog, add_help=False, allow_abbrev=False)
    first.add_argument("--algorithm")
    return first


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m training.routers.collect", description=__doc__.split("\n")[0]
    )
    add_pair_options(parser)
    parser.add_argument("--problems", required=True, help="FILE.jsonl or embedded:COUNT:SEED")
    parser.add_argument("--out", type=Path, required=True, help="directory of the collection")
    args = parse(parser, "add_collect_options", arguments)
    try:
        questions = training_questions(args.problems)
        pair = load_pair(args.small, args.large, args.device, args.attention)
        algorithm_module(args.algorithm).collect(args, pair, questions)
    except (ValueError, OSError) as error:
        parser.exit(1, f"{parser.prog}: {error}\n")


if __name__ == "__main__":
    main()
