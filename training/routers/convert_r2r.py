"""Converts a published R2R router (PyTorch) to the file that the engine reads.

    python -m training.routers.convert_r2r router.pt head.safetensors
    python -m training.routers.convert_r2r router.pt head.safetensors --config r2r.yaml --dtype bfloat16

Only the class HiddenStatesTokenLMHeadLogitsClassifier without input normalisation or position embeddings. The
copy of the small model's embedding that some files hold is left out. The threshold comes from --threshold,
`router.threshold` of the config, or the checkpoint's `common_args`, in this order.
"""

from __future__ import annotations

import argparse
import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
import yaml
from torch import Tensor

from training.routers.export import DTYPES, write_head
from training.routers.r2r_layout import check_tensors
from training.routers.r2r_network import ARCHITECTURE

_STATE_KEYS = ("state_dict", "model_state_dict", "model")
_EMBEDDING = "token_embeddings.weight"


def convert(
    checkpoint: Path,
    out: Path,
    config: Path | None = None,
    threshold: float | None = None,
    dtype: torch.dtype = torch.float32,
) -> int:
    """Writes `out`, returns the number of parameters.

    Raises ValueError naming the file and the first tensor or field that does not fit.
    """
    stored = load(checkpoint)
    if not isinstance(stored, Mapping):
        raise ValueError(f"{checkpoint}: expected a state dict, found {type(stored).__name__}")
    check_class(checkpoint, stored)
    tensors = state_of(checkpoint, stored)
    embedding = tensors.pop(_EMBEDDING, None)
    try:
        check_tensors(tensors)
    except ValueError as error:
        raise ValueError(f"{checkpoint}: {error}") from error
    vocab_size = None if embedding is None else len(embedding)
    if threshold is None:
        threshold = stored_threshold(stored, config)
    write_head(out, ARCHITECTURE, tensors, threshold, vocab_size, dtype)
    return sum(values.numel() for values in tensors.values())


def load(checkpoint: Path) -> object:
    """What the file holds. Raises ValueError naming it if that is not plain tensors and values; no code in it runs."""
    try:
        return torch.load(checkpoint, map_location="cpu", weights_only=True)
    except (pickle.UnpicklingError, EOFError, RuntimeError, OSError) as error:
        if isinstance(error, OSError) and error.filename is not None:
            raise  # cannot be opened; a file that was cut is an OSError as well, without a name
        reason = str(error).split("\n")[0]
        raise ValueError(f"{checkpoint} is no PyTorch file of plain tensors: {reason}") from error


def check_class(checkpoint: Path, stored: Mapping[str, Any]) -> None:
    """Raises ValueError if the wrapper says that this is another network, or one with other inputs."""
    name = stored.get("model_type", ARCHITECTURE)
    if name != ARCHITECTURE:
        raise ValueError(f"{checkpoint}: model_type is {name}, only {ARCHITECTURE} can be converted")
    arguments = stored.get("init_args") or {}
    if not isinstance(arguments, Mapping):
        raise ValueError(f"{checkpoint}: init_args is {type(arguments).__name__}, not a dictionary")
    for option in ("normalize_input", "use_position_embedding"):
        if arguments.get(option):
            raise ValueError(
                f"{checkpoint}: init_args.{option} is set, the engine's network has no such step"
            )


def state_of(checkpoint: Path, stored: Mapping[str, Any]) -> dict[str, Tensor]:
    """The tensors, wrapped or not; a prefix `module.` of data-parallel training is removed."""
    state = next((stored[key] for key in _STATE_KEYS if isinstance(stored.get(key), Mapping)), stored)
    for name, value in state.items():
        if not isinstance(name, str):
            raise ValueError(f"{checkpoint}: the tensor name {name!r} is no text")
        if not isinstance(value, Tensor):
            raise ValueError(f'{checkpoint}: "{name}" is {type(value).__name__}, not a tensor')
    return {name.removeprefix("module."): value.float() for name, value in state.items()}


def stored_threshold(stored: Mapping[str, Any], config: Path | None) -> float | None:
    """The config's threshold, else the checkpoint's, else None."""
    if config is not None:
        try:
            given = yaml.safe_load(config.read_text(encoding="utf-8"))
        except yaml.YAMLError as error:
            raise ValueError(f"{config}: {error}") from error
        router = given.get("router") if isinstance(given, Mapping) else None
        value = router.get("threshold") if isinstance(router, Mapping) else None
        if value is not None:
            return _number(f"{config}: router.threshold", value)
    arguments = stored.get("common_args")
    value = arguments.get("threshold") if isinstance(arguments, Mapping) else None
    return None if value is None else _number("common_args.threshold", value)


def _number(where: str, value: object) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1:
        return float(value)
    raise ValueError(f"{where} must be a number from 0 to 1, found {value!r}")


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m training.routers.convert_r2r", description=__doc__.split("\n")[0]
    )
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--config", type=Path, help="the pair's R2R config (YAML or JSON)")
    parser.add_argument("--threshold", type=float, help="instead of the stored one")
    parser.add_argument("--dtype", choices=list(DTYPES), default="float32")
    args = parser.parse_args(arguments)
    try:
        count = convert(args.checkpoint, args.out, args.config, args.threshold, DTYPES[args.dtype])
    except (ValueError, OSError) as error:
        parser.exit(1, f"{parser.prog}: {error}\n")
    print(f"{args.out}: {count} parameters")


if __name__ == "__main__":
    main()
