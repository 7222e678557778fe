"""CITER (arXiv 2502.01976): collection of rows and training of its confidence network."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor

from training.routers.answers import final_answer, same_answer
from training.routers.citer_network import ARCHITECTURE, citer_signal, load_confidence, train_confidence
from training.routers.continuation import Cut, greedy_continuations
from training.routers.export import DTYPES
from training.routers.finish import Trained, finish
from training.routers.fit import FitOptions
from training.routers.gold_rows import GOLD_LIMITS, ChainRows, add_gold_option, chain_rows, gold_chains
from training.routers.pair import Pair, load_pair
from training.routers.prompts import Question
from training.routers.routed import routed_answers
from training.routers.rules.citer import label, needs_roll_out
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
    counts = {"chains": 0, "tokens": 0, "roll_outs": 0, "small_labels": 0}
    with ShardWriter(args.out) as writer:
        for first in range(0, len(questions), _CHUNK_QUESTIONS):
            part = questions[first : first + _CHUNK_QUESTIONS]
            chains = gold_chains(pair, part, first, args.gold, args.max_new_tokens, "CITER")
            rows = list(chain_rows(pair, chains))
            verdicts = iter(_roll_outs(args, pair, rows))
            for row in rows:
                labels, asked = _labels(row, verdicts)
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


def _tokens(row: ChainRows) -> list[tuple[int, int, int]]:
    return list(zip(row.small.argmax.tolist(), row.large.argmax.tolist(), row.chain.gold, strict=True))


def _labels(row: ChainRows, verdicts: object) -> tuple[list[int], int]:
    labels, asked = [], 0
    for tokens in _tokens(row):
        is_asked = needs_roll_out(*tokens)
        asked += is_asked
        labels.append(label(*tokens, next(verdicts) if is_asked else None))
    return labels, asked


def _roll_outs(args: argparse.Namespace, pair: Pair, rows: Sequence[ChainRows]) -> list[bool]:
    """Whether the answer is right that goes on from the prefix and the small model's token, where it is asked."""
    cuts = [
        Cut(number, len(row.chain.prompt) + at, tokens[0], args.max_new_tokens - at)
        for number, row in enumerate(rows)
        for at, tokens in enumerate(_tokens(row))
        if needs_roll_out(*tokens)
    ]
    sequences = [row.chain.sequence for row in rows]
    if args.router is None:
        answers = greedy_continuations(pair.small, sequences, cuts, pair.end_ids, pair.vocabulary)
        tails = [answer.tokens for answer in answers]
    else:
        tails = _routed_tails(args, pair, sequences, cuts)
    right = []
    for cut, tail in zip(cuts, tails, strict=True):
        chain = rows[cut.sequence].chain
        text = pair.text([*chain.sequence[len(chain.prompt) : cut.length], *tail])
        right.append(same_answer(final_answer(text), chain.answer))
    return right


def _routed_tails(
    args: argparse.Namespace, pair: Pair, sequences: Sequence[list[int]], cuts: Sequence[Cut]
) -> list[list[int]]:
    network, threshold = load_confidence(args.router)
    signal = citer_signal(network.to(pair.small.device))
    # The small model's own token is part of the prefix: without it the roll-out would judge something else.
    prefixes = [[*sequences[cut.sequence][: cut.length], cut.token] for cut in cuts]
    answers = routed_answers(pair, prefixes, signal, threshold, args.max_new_tokens)
    return [[cut.token, *answer.tokens] for cut, answer in zip(cuts, answers, strict=True)]


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
    facts = [collection_of(directory, "citer") for directory in args.data]
    pair = load_pair(args.small, args.large, args.device, args.attention)
    options = FitOptions(args.learning_rate, 0.0, args.batch_rows, args.epochs, args.patience, args.seed)
    network, held_out, fitted = train_confidence(Rows(args.data), args.dropout, options)
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
        limits=GOLD_LIMITS,
    )
    finish(args, pair, facts, trained, started)


@torch.no_grad()
def _scores(network: torch.nn.Module, held_out: dict[str, Tensor]) -> list[float]:
    return network(held_out["hidden"].float()).sigmoid().tolist()
