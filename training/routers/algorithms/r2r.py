"""R2R (arXiv 2505.21600): collection of rows and training of its network."""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from training.routers.export import DTYPES
from training.routers.finish import Trained, finish
from training.routers.fit import FitOptions
from training.routers.judges import JUDGES, Judge, make_judge
from training.routers.pair import Pair, load_pair
from training.routers.prompts import Question
from training.routers.r2r_fit import held_out_scores, signal, train_network
from training.routers.r2r_layout import load_network
from training.routers.r2r_network import ARCHITECTURE
from training.routers.r2r_rows import Collector, Trajectories
from training.routers.routed import routed_answers
from training.routers.store import Rows, ShardWriter, collection_of, write_facts


def add_collect_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--judge",
        choices=list(JUDGES),
        help="answer: is the final answer lost after the small model's token (default where problems have one); "
        "model: a chat model compares both sentences; always: every differing token counts",
    )
    parser.add_argument(
        "--judge-model", type=Path, help="chat model for --judge model (default: the large one)"
    )
    parser.add_argument("--chunk", type=int, default=256, help="questions that are in memory together")
    parser.add_argument(
        "--states",
        type=Path,
        help="a trained head: take the states along answers that it routes (default: the large model's answers)",
    )
    parser.add_argument("--states-threshold", type=float, help="of that head (default: the stored one)")
    parser.add_argument(
        "--think-end", help="the large model's token that ends its reasoning, such as </think>"
    )


def collect(args: argparse.Namespace, pair: Pair, questions: Sequence[Question]) -> None:
    """Writes the rows of all questions and `collection.json`."""
    started = time.perf_counter()
    name = args.judge or ("answer" if all(question.answer for question in questions) else "model")
    judge: Judge = make_judge(name, pair, args.judge_model, args.device)
    think_end = _single_token(pair, args.think_end) if args.think_end else None
    on_policy = _routed(args, pair) if args.states else None
    collector = Collector(pair, judge, args.max_new_tokens, on_policy, think_end)
    facts = {
        "algorithm": "r2r",
        "small": str(args.small),
        "large": str(args.large),
        "problems": args.problems,
        "judge": name,
        "judge_model": str(args.judge_model or args.large) if name == "model" else None,
        "states": f"answers routed by {args.states}" if args.states else "answers of the large model",
    }
    with ShardWriter(args.out) as writer:
        for first in range(0, len(questions), args.chunk):
            rows = collector.rows(questions[first : first + args.chunk], first)
            if rows is not None:
                writer.add(rows)
            print(f"{min(first + args.chunk, len(questions))} questions, {collector.counts}", flush=True)
    if collector.counts.answers == 0:
        raise ValueError(f"none of the {len(questions)} answers ended within {args.max_new_tokens} tokens")
    write_facts(
        args.out, {**facts, **asdict(collector.counts), "seconds": round(time.perf_counter() - started)}
    )


def add_train_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--widths", type=int, nargs="+", default=[128, 128], help="of the residual blocks")
    parser.add_argument("--recall-factor", type=float, default=1.0, help="times the classes' balance")
    parser.add_argument("--dropout", type=float, default=0.1)
    parser.add_argument("--learning-rate", type=float, default=1e-3, help="5e-5 for the published size")
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--dtype", choices=list(DTYPES), default="float16", help="of the stored weights")


def train(args: argparse.Namespace) -> None:
    """Fits, calibrates and writes the router."""
    started = time.perf_counter()
    facts = [collection_of(directory, "r2r") for directory in args.data]
    pair = load_pair(args.small, args.large, args.device, args.attention)
    embedding = pair.small.embedding.cpu()
    options = FitOptions(args.learning_rate, epochs=args.epochs, seed=args.seed)
    network, seen, fitted = train_network(
        Rows(args.data), embedding, args.widths, args.recall_factor, args.dropout, options
    )
    labels, scores = held_out_scores(network, embedding, seen)
    trained = Trained(
        name="R2R",
        architecture=ARCHITECTURE,
        tensors=network.state_dict(),
        signal=signal(network.to(pair.small.device), pair.small.embedding),
        scores=scores,
        is_positive=[value == 1 for value in labels],
        facts={
            "network": f"widths {args.widths}, {sum(p.numel() for p in network.parameters())} parameters",
            "rows": f"{seen.positives} divergent and {seen.negatives} others to train on",
            "training": f"epoch {fitted.best} of {fitted.epochs}, recall factor {args.recall_factor}, "
            f"learning rate {args.learning_rate}, seed {args.seed}",
        },
        limits=_limits(facts),
    )
    finish(args, pair, facts, trained, started)


def _limits(facts: Sequence[Mapping[str, Any]]) -> str:
    states = dict.fromkeys(str(fact["states"]) for fact in facts)
    return f"The rows are states along {', then '.join(states)}; what else happens at run time was not trained on."


def _routed(args: argparse.Namespace, pair: Pair) -> Trajectories:
    """Answers of the pair under a trained head."""
    network, stored = load_network(args.states)
    threshold = stored if args.states_threshold is None else args.states_threshold
    if threshold is None:
        raise ValueError(f"{args.states} stores no threshold: give --states-threshold")
    router = signal(network.to(pair.small.device), pair.small.embedding)
    return lambda prompts: list(routed_answers(pair, prompts, router, threshold, args.max_new_tokens))


def _single_token(pair: Pair, text: str) -> int:
    ids = pair.answer_ids(text)
    if len(ids) != 1:
        raise ValueError(f"--think-end {text!r} is {len(ids)} tokens, not one")
    return ids[0]
