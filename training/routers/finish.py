"""The last part of training any router: threshold, files and card."""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from torch import Tensor

from training.routers.calibrate import Calibration, by_recall, by_share, linear_grid
from training.routers.export import DTYPES, HEAD_FILE, table, write_calibration, write_card, write_head
from training.routers.pair import Pair
from training.routers.prompts import validation_questions
from training.routers.score_calibration import Point, Validation, best_point, read_validation, share_at
from training.routers.signals import ENTROPY, Signal

# Closer together where --max-share usually lies.
CURVE_SHARES = (0.02, 0.03, 0.04, 0.05, 0.06, 0.065, 0.07, 0.075, 0.08, 0.09, 0.1, 0.12, 0.15)
ENTROPY_THRESHOLDS = (0.01, 0.015, 0.02, 0.03, 0.04, 0.06, 0.09, 0.12)


@dataclass(frozen=True)
class Trained:
    """A fitted network. scores and is_positive: of the held-out rows; positive = the large model should write.

    limits: what its card says about where it is not to be trusted.
    """

    name: str
    architecture: str
    tensors: Mapping[str, Tensor]
    signal: Signal
    scores: Sequence[float]
    is_positive: Sequence[bool]
    facts: Mapping[str, Any]
    limits: str


def finish(
    args: argparse.Namespace,
    pair: Pair,
    collections: Sequence[Mapping[str, Any]],
    trained: Trained,
    started: float,
) -> None:
    """Chooses the threshold as --threshold says and writes head, calibration.json and card to --out."""
    validation = None
    if args.threshold.kind == "score":
        questions = validation_questions(args.validation)
        validation = read_validation(pair, questions, args.max_new_tokens)
    curve = _curve(trained, validation)
    threshold = _threshold(args, trained, curve)
    facts = {"collections": list(collections), **trained.facts}
    result = {
        "threshold": threshold,
        "rule": f"{args.threshold.kind}:{args.threshold.value}".removesuffix(":nan"),
        "max_share": args.max_share,
        "validation": args.validation if validation else None,
        "large_exact": validation.large_exact if validation else None,
        "curve": curve,
        "entropy": [asdict(point) for point in _entropy(validation)],
    }
    path = args.out / HEAD_FILE
    dtype = DTYPES[args.dtype]
    write_head(path, trained.architecture, trained.tensors, threshold, pair.small.vocabulary, dtype)
    result["seconds"] = round(time.perf_counter() - started)
    write_calibration(args.out, {**result, **facts})
    _card(args, trained, result, collections)
    print(f"threshold {threshold:.6g}; {path}", flush=True)


def runtime_threshold(found: Calibration, signal: Signal) -> float:
    """From "suspicion >= threshold" to the signal's own comparison, so that it sends the same rows."""
    if signal.sends == "at_least":
        return found.threshold
    if signal.sends == "above":
        return max(0.0, math.nextafter(found.threshold, -math.inf))
    return min(1.0, math.nextafter(1 - found.threshold, math.inf))


def _suspicions(trained: Trained) -> list[float]:
    if trained.signal.sends == "below":
        return [1 - score for score in trained.scores]
    return list(trained.scores)


def _curve(trained: Trained, validation: Validation | None) -> list[dict[str, Any]]:
    labels, suspicions = [int(value) for value in trained.is_positive], _suspicions(trained)
    found = [by_share(labels, suspicions, share) for share in CURVE_SHARES]
    thresholds = [runtime_threshold(point, trained.signal) for point in found]
    rows = [
        {"threshold": threshold, "rows sent": point.share, "recall": point.recall}
        for threshold, point in zip(thresholds, found, strict=True)
    ]
    if validation is None:
        return rows
    measured = validation.points(trained.signal, thresholds)
    for point in measured:
        print(point, flush=True)
    return [
        {**row, "share": point.share, "exact": point.exact} for row, point in zip(rows, measured, strict=True)
    ]


def _threshold(args: argparse.Namespace, trained: Trained, curve: Sequence[Mapping[str, Any]]) -> float:
    labels, suspicions = [int(value) for value in trained.is_positive], _suspicions(trained)
    if args.threshold.kind == "share":
        return runtime_threshold(by_share(labels, suspicions, args.threshold.value), trained.signal)
    if args.threshold.kind == "recall":
        found = by_recall(labels, suspicions, args.threshold.value, linear_grid())
        if not found.found:
            raise ValueError(f"no threshold from 0.01 to 0.99 reaches the recall {args.threshold.value}")
        return runtime_threshold(found, trained.signal)
    points = [Point(row["threshold"], row["share"], row["exact"], math.nan) for row in curve]
    best = best_point(points, args.max_share)
    if best is None:
        raise ValueError(f"no threshold stays within --max-share {args.max_share}")
    return best.threshold


def _entropy(validation: Validation | None) -> list[Point]:
    return [] if validation is None else validation.points(ENTROPY, ENTROPY_THRESHOLDS)


def _card(
    args: argparse.Namespace,
    trained: Trained,
    result: Mapping[str, Any],
    collections: Sequence[Mapping[str, Any]],
) -> None:
    facts: dict[str, Any] = {"pair": f"`{args.small}` with `{args.large}`", **trained.facts}
    for number, collection in enumerate(collections, 1):
        words = ", ".join(f"{name} {value}" for name, value in collection.items() if value is not None)
        facts[f"collection {number}"] = words
    facts["held-out rows"] = f"{len(trained.scores)}, {sum(trained.is_positive)} for the large model"
    facts["threshold"] = f"{result['threshold']:.6g}, by {result['rule']}"
    facts["seconds to train and calibrate"] = result["seconds"]
    limits = [
        "The threshold and the curves are for this pair and this kind of problem.",
        trained.limits,
    ]
    if result["entropy"]:
        facts["validation"] = (
            f"{result['validation']}; the large model alone {result['large_exact']:.1%} exact"
        )
        limits += _beside_entropy(result)
    summary = (
        f"{trained.name} for token-level routing; the runtime reads `{HEAD_FILE}`. `rows sent` and `recall` are of "
        "held-out rows, `share` (tokens by the large model) and `exact` of routed decoding of the validation problems."
    )
    name = trained.name
    write_card(args.out, f"{name} router", summary, facts, result["curve"], "\n\n".join(limits))


def _beside_entropy(result: Mapping[str, Any]) -> list[str]:
    keys = ("threshold", "share", "exact")
    rows = [{key: point[key] for key in keys} for point in result["entropy"]]
    goal = 0.98 * result["large_exact"]
    own = [Point(row["threshold"], row["share"], row["exact"], math.nan) for row in result["curve"]]
    shares = [share_at(points, goal) for points in (own, [Point(**p) for p in result["entropy"]])]
    words = ["not reached" if math.isnan(share) else f"{share:.1%} of tokens" for share in shares]
    return [
        f"98 % of the large model's accuracy ({goal:.1%} exact): this router {words[0]}, plain entropy, one token "
        f"at a time, on the same problems {words[1]}:",
        "\n".join(table(rows)),
    ]
