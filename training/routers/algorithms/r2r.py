"""R2R (arXiv 2505.21600): collection of rows and training of its network."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from training.routers.judges import JUDGES, Judge, make_judge
from training.routers.pair import Pair
from training.routers.prompts import Question
from training.routers.r2r_rows import Collector
from training.routers.store import ShardWriter, write_facts

_CHUNK_QUESTIONS = 512


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
    parser.add_argument(
        "--think-end", help="the large model's token that ends its reasoning, such as </think>"
    )


def collect(args: argparse.Namespace, pair: Pair, questions: Sequence[Question]) -> None:
    """Writes the rows of all questions and `collection.json`."""
    started = time.perf_counter()
    name = args.judge or ("answer" if all(question.answer for question in questions) else "model")
    judge: Judge = make_judge(name, pair, args.judge_model, args.device)
    think_end = _single_token(pair, args.think_end) if args.think_end else None
    collector = Collector(pair, judge, args.max_new_tokens, think_end=think_end)
    with ShardWriter(args.out) as writer:
        for first in range(0, len(questions), _CHUNK_QUESTIONS):
            rows = collector.rows(questions[first : first + _CHUNK_QUESTIONS], first)
            if rows is not None:
                writer.add(rows)
            print(
                f"{min(first + _CHUNK_QUESTIONS, len(questions))} questions, {collector.counts}", flush=True
            )
    facts = {
        "algorithm": "r2r",
        "small": str(args.small),
        "large": str(args.large),
        "problems": args.problems,
        "judge": name,
        "judge_model": str(args.judge_model or args.large) if name == "model" else None,
        "states": "answers of the large model",
        "seconds": round(time.perf_counter() - started),
        **asdict(collector.counts),
    }
    write_facts(args.out, facts)


def _single_token(pair: Pair, text: str) -> int:
    ids = pair.answer_ids(text)
    if len(ids) != 1:
        raise ValueError(f"--think-end {text!r} is {len(ids)} tokens, not one")
    return ids[0]
