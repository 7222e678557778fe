"""Trains a router's network on collected rows, calibrates its threshold and writes `head.safetensors`.

    python -m training.routers.train --algorithm r2r --small models/small --large models/large \\
        --data runs/r2r --out models/routers/r2r --threshold score --validation embedded:400:11

--threshold recall:R   the largest threshold that finds the share R of the held-out positive rows (R2R's rule)
            share:S    the one that sends the share S of the held-out rows to the large model
            score      decodes the validation problems over a grid, takes the best accuracy at --max-share or less
"""

from __future__ import annotations

import argparse
from pathlib import Path

from training.routers.calibrate import threshold_rule
from training.routers.collect import add_pair_options, parse
from training.routers.registry import algorithm_module

MAX_SHARE = 0.07


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m training.routers.train", description=__doc__.split("\n")[0]
    )
    add_pair_options(parser)
    parser.add_argument("--data", type=Path, nargs="+", required=True, help="collections, one or more rounds")
    parser.add_argument("--out", type=Path, required=True, help="directory of the router")
    parser.add_argument("--threshold", type=threshold_rule, default=threshold_rule("score"))
    parser.add_argument("--validation", default="embedded:400:11", help="FILE.jsonl or embedded:COUNT:SEED")
    parser.add_argument("--max-share", type=float, default=MAX_SHARE, help="of tokens, for --threshold score")
    parser.add_argument("--seed", type=int, default=0)
    args = parse(parser, "add_train_options", arguments)
    try:
        algorithm_module(args.algorithm).train(args)
    except (ValueError, OSError) as error:
        parser.exit(1, f"{parser.prog}: {error}\n")


if __name__ == "__main__":
    main()
