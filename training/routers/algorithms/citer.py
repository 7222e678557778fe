"""CITER (arXiv 2502.01976): collection of rows and training of its confidence network."""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from training.routers.citer_labels import Labeller
from training.routers.citer_network import ARCHITECTURE, citer_signal, train_confidence
from training.routers.export import DTYPES
from training.routers.finish import Trained, finish
from training.routers.fit import FitOptions
from training.routers.gold_rows import GOLD_LIMITS, add_gold_option, chain_rows, gold_chains
from training.routers.pair import Pair, load_pair
from training.routers.prompts import Question
from training.routers.store import Rows, ShardWriter, collection_of, write_facts

_CHUNK_QUESTIONS = 256


def add_collect_options(parser: argparse.ArgumentParser) -> None:
    add_gold_option(parser)
    parser.add_argument(
        "--router",
        type=Path,
        help="head of the last round, which finishes the roll-outs with the large model (default: the small one alone)",
    )


def collect(args: argparse.Namespace, pair: Pair, questions: Sequence[Question]) -> None:
    """Writes the rows of all questions and `collection.json`."""
    started = time.perf_counter()
    labeller = Labeller(pair, args.max_new_tokens, args.router)
    counts = {"chains": 0, "tokens": 0, "roll_outs": 0, "small_labels": 0}
    with ShardWriter(args.out) as writer:
        for first in range(0, len(questions), _CHUNK_QUESTIONS):
            part = questions[first : first + _CHUNK_QUESTIONS]
            chains = gold_chains(pair, part, first, args.gold, args.max_new_tokens, "CITER")
            rows = list(chain_rows(pair, chains))
            for row, (labels, asked) in zip(rows, labeller.labels(rows), strict=True):
                writer.add({**row.columns(), "label": torch.tensor(labels, dtype=torch.int8)})
                counts["chains"] += 1
                counts["tokens"] += len(labels)
                counts["roll_outs"] += asked
                counts["small_labels"] += sum(labels)
            print(f"{min(first + _CHUNK_QUESTIONS, len(questions))} questions, {counts}", flush=True)
    facts = {
        "algorithm": "citer",
        "small": str(args.small),
        "large": str(args.large),
        "problems": args.problems,
    }
    finisher = "the small model alone" if args.router is None else f"routed by {args.router}"
    facts |= {"gold": args.gold, "roll_outs_finished": finisher, **counts}
    write_facts(args.out, {**facts, "seconds": round(time.perf_counter() - started)})


def add_train_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--learning-rate", type=float, default=1e-4)
    parser.add_argument("--batch-rows", type=int, default=256)
    parser.add_argument("--epochs", type=int, default=60, help="at most; early stop by the held-out loss")
    parser.add_argument("--patience", type=int, default=5, help="epochs without a better held-out loss")
    parser.add_argument("--dropout", type=float, default=0.1)
    parser.add_argument("--dtype", choices=list(DTYPES), default="float32", help="of the stored weights")


def train(args: argparse.Namespace) -> None:
    """Fits, calibrates and writes the router."""
    started = time.perf_counter()
    facts = [collection_of(directory, "citer", "r2r") for directory in args.data]
    pair = load_pair(args.small, args.large, args.device, args.attention)
    options = FitOptions(args.learning_rate, 0.0, args.batch_rows, args.epochs, args.patience, args.seed)
    network, held_out, fitted = train_confidence(Rows(args.data, view=_preferences), args.dropout, options)
    scores = _scores(network, held_out)
    trained = Trained(
        name="CITER",
        architecture=ARCHITECTURE,
        tensors=network.stored(),
        signal=citer_signal(network),
        is_positive=[value == 0 for value in held_out["label"].tolist()],
        scores=scores,
        facts={
            "network parameters": network.parameter_count(),
            "epochs": f"{fitted.best} of {fitted.epochs}",
            "held-out loss": f"{fitted.loss:.5f}",
        },
        limits=_limits(facts),
    )
    finish(args, pair, facts, trained, started)


def _limits(facts: Sequence[Mapping[str, Any]]) -> str:
    judges = sorted({str(fact["judge"]) for fact in facts if fact["algorithm"] == "r2r"})
    if not judges:
        return GOLD_LIMITS
    return (
        f"The labels are verdicts on the small model's differing tokens (R2R's judges: {', '.join(judges)}); "
        "at run time the router also sees states after mistakes."
    )


def _preferences(shard: dict[str, Tensor]) -> dict[str, Tensor]:
    """Hidden vectors with 1 where the small model may write. R2R's rows have `top`, and 1 where it may not."""
    label = shard["label"].half()
    return {
        "hidden": shard["hidden"],
        "label": 1 - label if "top" in shard else label,
        "group": shard["group"],
    }


@torch.no_grad()
def _scores(network: torch.nn.Module, held_out: dict[str, Tensor]) -> list[float]:
    return network(held_out["hidden"].float()).sigmoid().tolist()
