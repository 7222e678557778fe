"""Judges the mismatches of a collection by what another collection's verdicts teach.

    python -m training.routers.relabel --small DIR --judged runs/judged --data runs/many --out runs/many-judged

`--data` was collected with `--judge always`, which costs a fraction of judging; its labels become probabilities.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor

from training.routers.causal_model import CausalModel
from training.routers.held_out import chosen, is_held_out
from training.routers.learnt_judge import LearntJudge, learn, mismatches
from training.routers.store import Rows, ShardWriter, collection_of, write_facts
from training.scoring import rank_auc


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m training.routers.relabel", description=__doc__)
    parser.add_argument("--small", type=Path, required=True, help="checkpoint directory of the small model")
    parser.add_argument(
        "--judged", type=Path, nargs="+", required=True, help="collections with a judge's verdicts"
    )
    parser.add_argument("--data", type=Path, nargs="+", required=True, help="collections to judge")
    parser.add_argument("--out", type=Path, required=True, help="directory of the judged collection")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    return parser


def relabel(args: argparse.Namespace) -> None:
    """Writes the rows of --data, except those of held-out questions, with probabilities as labels.

    Held-out rows are left to the judged collections: what is measured on them is then the judge's own word.
    """
    judged_facts = [collection_of(directory, "r2r") for directory in args.judged]
    facts = [collection_of(directory, "r2r") for directory in args.data]
    embedding = CausalModel(args.small).embedding
    parts = list(Rows(args.judged).shards())
    judge = learn([chosen(part, ~is_held_out(part)) for part in parts], embedding, seed=args.seed)
    quality = _quality(judge, [chosen(part, is_held_out(part)) for part in parts])
    print(f"held-out mismatches: area under the curve {quality:.3f}", flush=True)
    divergent = tokens = 0.0
    with ShardWriter(args.out) as writer:
        for shard in Rows(args.data).shards():
            rows = chosen(shard, ~is_held_out(shard))
            labels = judge.probabilities(rows)
            divergent += labels.sum().item()
            tokens += len(labels)
            writer.add({**rows, "label": labels.half()})
    write_facts(
        args.out,
        {
            "algorithm": "r2r",
            "problems": ", ".join(str(fact["problems"]) for fact in facts),
            "judge": f"learnt from {', '.join(sorted({str(fact['judge']) for fact in judged_facts}))}",
            "states": ", ".join(sorted({str(fact["states"]) for fact in facts})),
            "tokens": int(tokens),
            "expected_divergent": round(divergent),
            "judge_area_under_curve": round(quality, 4),
        },
    )


def _quality(judge: LearntJudge, held_out: list[dict[str, Tensor]]) -> float:
    scores = [judge.probabilities(rows)[mismatches(rows)] for rows in held_out]
    labels = [rows["label"][mismatches(rows)] for rows in held_out]
    return rank_auc(torch.cat(scores), torch.cat(labels) == 1)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; 1 with a message where the data does not allow it."""
    args = _parser().parse_args(arguments)
    torch.set_num_threads(args.threads)
    try:
        relabel(args)
    except (ValueError, OSError) as error:
        print(f"relabel: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
