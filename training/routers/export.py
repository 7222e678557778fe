"""Writes a router's network as the runtime's engine reads it, with its card."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch import Tensor

HEAD_FILE = "head.safetensors"
CALIBRATION_FILE = "calibration.json"
CARD_FILE = "README.md"
DTYPES = {"float32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16}


def write_head(
    path: Path,
    architecture: str,
    tensors: Mapping[str, Tensor],
    threshold: float | None,
    vocab_size: int | None,
    dtype: torch.dtype = torch.float32,
    metadata: Mapping[str, str] | None = None,
) -> None:
    """One safetensors file. threshold: in [0, 1], the router's default; vocab_size: of the model's embedding."""
    if threshold is not None and not 0 <= threshold <= 1:
        raise ValueError(f"the threshold {threshold} is not in [0, 1]")
    bad = next((name for name, values in tensors.items() if not values.to(dtype).isfinite().all()), None)
    if bad is not None:
        raise ValueError(f'tensor "{bad}" is not finite in {dtype}')
    texts = {"architecture": architecture, **(metadata or {})}
    if threshold is not None:
        texts["threshold"] = repr(float(threshold))
    if vocab_size is not None:
        texts["vocab_size"] = str(vocab_size)
    path.parent.mkdir(parents=True, exist_ok=True)
    save_file({name: values.to(dtype).contiguous() for name, values in tensors.items()}, path, texts)
    path.chmod(0o644)


def write_calibration(directory: Path, calibration: Mapping[str, Any]) -> None:
    """The whole curve behind the threshold, as JSON."""
    text = json.dumps(calibration, indent=1) + "\n"
    (directory / CALIBRATION_FILE).write_text(text, encoding="utf-8")


def write_card(
    directory: Path,
    title: str,
    summary: str,
    facts: Mapping[str, Any],
    curve: Sequence[Mapping[str, Any]],
    limits: str,
) -> None:
    """The router's model card. facts: one line each; curve: one row per threshold with equal keys."""
    lines = ["---", "license: apache-2.0", "tags: [token-routing]", "---", "", f"# {title}", "", summary, ""]
    lines += ["| | |", "|---|---|", *(f"| {name} | {value} |" for name, value in facts.items()), ""]
    lines += ["## Calibration", "", *table(curve), "", "## Limits", "", limits, ""]
    (directory / CARD_FILE).write_text("\n".join(lines), encoding="utf-8")


def table(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Rows with equal keys as a Markdown table; shares and the like as they come, floats with four digits."""
    if not rows:
        return []
    names = list(rows[0])
    lines = ["| " + " | ".join(names) + " |", "|" + "---|" * len(names)]
    return [*lines, *("| " + " | ".join(_cell(row[name]) for name in names) + " |" for row in rows)]


def _cell(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
