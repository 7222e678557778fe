"""Evaluates models alone, and the small and large one together under routing rules.

    python -m training.evaluate --models models/small models/medium models/large \\
        --test --route --out evaluation.json
    python -m training.evaluate --models models/small --seed 7 --count 200

--test takes the shipped test lists, for reported numbers only; --seed draws others to choose by, whose numbers no
test problem has.

The first model given is the small one of the routed pair, the last the large one.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from training.checkpoint import load_model
from training.problem import Problem, Split
from training.problem_files import held_out_lists, problems_to_choose_by
from training.scoring import (
    decode_and_score,
    divergence,
    entropy_rule,
    perplexity,
    random_rule,
)
from training.tokenizer import load_tokenizer

THRESHOLDS = (0.01, 0.02, 0.04, 0.07, 0.1, 0.15, 0.2)
RANDOM_SHARES = (0.1, 0.3)
RANDOM_RULE_SEED = 5
PERPLEXITY_PROBLEMS = 200

SPLIT_TITLES: dict[Split, str] = {
    "numbers": "unseen numbers and names",
    "sentences": "unseen sentences, objects, numbers and names",
}


def evaluate_split(
    directories: list[Path], problems: list[Problem], route: bool, thresholds: tuple[float, ...]
) -> dict[str, Any]:
    """All measurements on one problem list, as plain data."""
    tokenizer = load_tokenizer(directories[0])
    models = [load_model(directory) for directory in directories]
    result: dict[str, Any] = {"problems": len(problems), "models": {}, "rules": []}
    for directory, model in zip(directories, models, strict=True):
        score = decode_and_score([model], tokenizer, problems)
        facts = {
            "parameters": model.parameter_count(),
            "exact": score.exact,
            "tokens": score.tokens,
            "perplexity": perplexity(model, tokenizer, problems[:PERPLEXITY_PROBLEMS]),
            "by_kind": score.by_kind,
        }
        result["models"][directory.name] = facts
        print(directory, json.dumps(facts), flush=True)
    if not route:
        return result
    pair = [models[0], models[-1]]
    result["divergence"] = asdict(divergence(pair[0], pair[1], tokenizer, problems))
    rules = [("entropy", t, entropy_rule(t)) for t in thresholds]
    rules += [("random", p, random_rule(p, RANDOM_RULE_SEED)) for p in RANDOM_SHARES]
    for name, parameter, rule in rules:
        score = decode_and_score(pair, tokenizer, problems, rule)
        row = {
            "rule": name,
            "parameter": parameter,
            "large_share": score.large_share,
            "exact": score.exact,
            "tokens": score.tokens,
        }
        result["rules"].append(row)
        print(json.dumps(row), flush=True)
    return result


def problems_of(split: Split, seed: int | None, count: int) -> list[Problem]:
    """`count` problems drawn with the seed, or without one the first of the shipped test list."""
    if seed is not None:
        return problems_to_choose_by(count, split, seed)
    return held_out_lists()["test" if split == "numbers" else "test-sentences"][:count]


def markdown(results: dict[Split, dict[str, Any]]) -> str:
    """The results as Markdown tables, one section per split."""
    lines: list[str] = []
    for split, result in results.items():
        lines += [f"### {SPLIT_TITLES[split]} ({result['problems']} problems)", ""]
        lines += ["| model | parameters | exact | perplexity | tokens per answer |"]
        lines += ["|---|---|---|---|---|"]
        for name, row in result["models"].items():
            lines.append(
                f"| {name} | {row['parameters']:,} | {row['exact']:.1%} "
                f"| {row['perplexity']:.3f} | {row['tokens']:.0f} |"
            )
        lines += ["", *_kind_table(result), ""]
        if result["rules"]:
            lines += [*_rule_table(result), ""]
    return "\n".join(lines)


def _kind_table(result: dict[str, Any]) -> list[str]:
    names = list(result["models"])
    lines = ["| kind | problems | " + " | ".join(names) + " |", "|---|---|" + "---|" * len(names)]
    for kind, (_, count) in result["models"][names[0]]["by_kind"].items():
        cells = [f"{result['models'][name]['by_kind'][kind][0]:.0%}" for name in names]
        lines.append(f"| {kind} | {count} | " + " | ".join(cells) + " |")
    return lines


def _rule_table(result: dict[str, Any]) -> list[str]:
    gap = result["divergence"]
    lines = [
        f"The small model's argmax differs on {gap['tokens']:.2%} of the large model's tokens, in "
        f"{gap['answers']:.1%} of its answers; its entropy ranks those tokens with AUC "
        f"{gap['auc']:.3f}.",
        "",
        "| rule | threshold or p | large model's share | exact | tokens per answer |",
        "|---|---|---|---|---|",
    ]
    for row in result["rules"]:
        lines.append(
            f"| {row['rule']} | {row['parameter']:g} | {row['large_share']:.2%} "
            f"| {row['exact']:.1%} | {row['tokens']:.0f} |"
        )
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--models", type=Path, nargs="+", required=True)
    parser.add_argument("--splits", nargs="+", choices=list(SPLIT_TITLES), default=list(SPLIT_TITLES))
    parser.add_argument("--count", type=int, default=400, help="problems per split")
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--seed", type=int, help="draw problems with this seed")
    source.add_argument("--test", action="store_true", help="the shipped test lists")
    parser.add_argument("--route", action="store_true", help="also the routing rules")
    parser.add_argument("--thresholds", type=float, nargs="+", default=list(THRESHOLDS))
    # Single-token products are too small to split: two threads spend their time waiting.
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--out", type=Path, help="write all results as JSON")
    parser.add_argument("--markdown", action="store_true", help="print the tables")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    results: dict[Split, dict[str, Any]] = {}
    started = time.perf_counter()
    for split in args.splits:
        problems = problems_of(split, args.seed, args.count)
        origin = "shipped test list" if args.test else f"seed {args.seed}"
        print(f"{SPLIT_TITLES[split]}, {origin}, {len(problems)} problems", flush=True)
        results[split] = evaluate_split(args.models, problems, args.route, tuple(args.thresholds))
    if args.out:
        seed = "test" if args.seed is None else args.seed
        args.out.write_text(json.dumps({"seed": seed, "splits": results}, indent=1))
    if args.markdown:
        print(markdown(results))
    print(f"{time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
