"""Co-LLM (arXiv 2403.03870) with a frozen base: collection of rows and training of the deferral head."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import replace

from training.routers.co_llm_head import ARCHITECTURE, co_llm_signal, head_scores, train_deferral
from training.routers.export import DTYPES
from training.routers.finish import Trained, finish
from training.routers.fit import FitOptions
from training.routers.gold_rows import GOLD_LIMITS, add_gold_option, chain_rows, gold_chains
from training.routers.pair import Pair, load_pair
from training.routers.prompts import Question
from training.routers.rules.co_llm import pseudo_label
from training.routers.store import Rows, ShardWriter, collection_of, write_facts

_CHUNK_QUESTIONS = 256


def add_collect_options(parser: argparse.ArgumentParser) -> None:
    add_gold_option(parser)


def collect(args: argparse.Namespace, pair: Pair, questions: Sequence[Question]) -> None:
    """Writes the rows of all questions and `collection.json`."""
    started = time.perf_counter()
    counts = {"chains": 0, "tokens": 0}
    with ShardWriter(args.out) as writer:
        for first in range(0, len(questions), _CHUNK_QUESTIONS):
            part = questions[first : first + _CHUNK_QUESTIONS]
            chains = gold_chains(pair, part, first, args.gold, args.max_new_tokens, "Co-LLM")
            for row in chain_rows(pair, chains):
                writer.add(row.columns())
                counts["chains"] += 1
                counts["tokens"] += len(row.chain.gold)
            print(f"{min(first + _CHUNK_QUESTIONS, len(questions))} questions, {counts}", flush=True)
    facts = {
        "algorithm": "co-llm",
        "small": str(args.small),
        "large": str(args.large),
        "problems": args.problems,
    }
    seconds = round(time.perf_counter() - started)
    write_facts(args.out, {**facts, "gold": args.gold, **counts, "seconds": seconds})


def add_train_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--learning-rate", type=float, default=1e-2)
    parser.add_argument("--batch-rows", type=int, default=2048)
    parser.add_argument("--epochs", type=int, default=30, help="at most; early stop by the held-out loss")
    parser.add_argument("--patience", type=int, default=5, help="epochs without a better held-out loss")
    parser.add_argument(
        "--supervision",
        type=float,
        default=0.0,
        help="share of the pseudo-labels in the loss, 0 to 1; the likelihood alone has no reason not to defer "
        "(default: 0; the authors' weakly supervised variant: 0.333)",
    )
    parser.add_argument("--dtype", choices=list(DTYPES), default="float32", help="of the stored weights")


def train(args: argparse.Namespace) -> None:
    """Fits, calibrates and writes the router. CITER's collections hold all that is needed, too."""
    started = time.perf_counter()
    if not 0 <= args.supervision <= 1:
        raise ValueError(f"--supervision {args.supervision} is not in [0, 1]")
    facts = [collection_of(directory, "co-llm", "citer") for directory in args.data]
    pair = load_pair(args.small, args.large, args.device, args.attention)
    options = FitOptions(args.learning_rate, 0.0, args.batch_rows, args.epochs, args.patience, args.seed)
    start = replace(options, epochs=1)
    head, held_out, fitted = train_deferral(Rows(args.data), start, options, args.supervision)
    tokens = (held_out[name].tolist() for name in ("gold", "sampled", "large"))
    trained = Trained(
        name="Co-LLM",
        architecture=ARCHITECTURE,
        tensors=dict(head.state_dict()),
        signal=co_llm_signal(head),
        scores=head_scores(head, held_out["hidden"]),
        is_positive=[bool(pseudo_label(*row)) for row in zip(*tokens, strict=True)],
        facts={
            "network parameters": held_out["hidden"].shape[1] + 1,
            "epochs": f"{fitted.best} of {fitted.epochs} after one on pseudo-labels",
            "pseudo-labels in the loss": f"{args.supervision:.3g}",
            "held-out loss": f"{fitted.loss:.5f}",
        },
        limits=f"Only the deferral head was trained, the base is as it was. {GOLD_LIMITS}",
    )
    finish(args, pair, facts, trained, started)
