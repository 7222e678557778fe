"""The tensors of R2R's published network: their names and shapes, and reading a head file back."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from safetensors import safe_open
from torch import Tensor

from training.routers.r2r_network import ARCHITECTURE, DivergenceClassifier


def load_network(path: Path) -> tuple[DivergenceClassifier, float | None]:
    """The network of a head file in fp32, and the threshold that the file stores.

    Raises ValueError naming the file and what does not fit.
    """
    with safe_open(path, "pt") as file:
        metadata = file.metadata() or {}
        tensors = {name: file.get_tensor(name).float() for name in file.keys()}  # noqa: SIM118
    if metadata.get("architecture") != ARCHITECTURE:
        raise ValueError(f"{path}: holds {metadata.get('architecture')}, expected {ARCHITECTURE}")
    try:
        network = network_of(tensors)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error
    return network, float(metadata["threshold"]) if "threshold" in metadata else None


def network_of(tensors: Mapping[str, Tensor]) -> DivergenceClassifier:
    """The network with these tensors, for use. Raises ValueError naming the first tensor that does not fit."""
    check_tensors(tensors)
    hidden, top = tensors["logits_projection.weight"].shape
    inner = [len(tensors[name]) for name in _block_names(tensors, "mlp.0.weight")]
    widths = [len(tensors[name]) for name in _block_names(tensors, "layer_norm.weight")]
    network = DivergenceClassifier(hidden, top, widths, 0.0, inner)
    network.load_state_dict(dict(tensors))
    return network.eval()


def check_tensors(tensors: Mapping[str, Tensor]) -> None:
    """Raises ValueError naming the first tensor that is missing, of another shape, or unknown."""
    expected = expected_shapes({name: tuple(values.shape) for name, values in tensors.items()})
    for name, shape in expected.items():
        if name not in tensors:
            raise ValueError(f'tensor "{name}" is missing')
        found = tuple(tensors[name].shape)
        if found != shape:
            raise ValueError(f'tensor "{name}" has shape {found}, expected {shape}')
    unknown = next((name for name in tensors if name not in expected), None)
    if unknown is not None:
        raise ValueError(f'tensor "{unknown}" does not belong to {ARCHITECTURE}')


def _block_names(tensors: Mapping[str, Tensor], suffix: str) -> list[str]:
    count = sum(name.endswith("layer_norm.weight") for name in tensors)
    return [f"backbone.blocks.{index}.{suffix}" for index in range(count)]


def expected_shapes(found: Mapping[str, tuple[int, ...]]) -> dict[str, tuple[int, ...]]:
    """Every tensor of the network whose sizes these are, in the order of its layers.

    Raises ValueError if a tensor from which a size must be read is missing or no matrix.
    """
    hidden, top = _sizes(found, "logits_projection.weight")
    first, _ = _sizes(found, "combined_projection.weight")
    shapes = _linear("logits_projection", hidden, top)
    shapes |= _linear("combined_projection", first, 3 * hidden)
    shapes |= _linear("backbone.input_projection", first, first)
    width, index = first, 0
    while f"backbone.blocks.{index}.layer_norm.weight" in found:
        name = f"backbone.blocks.{index}"
        inner, _ = _sizes(found, f"{name}.mlp.0.weight")
        following, _ = _sizes(found, f"{name}.mlp.3.weight")
        shapes |= {f"{name}.layer_norm.weight": (width,), f"{name}.layer_norm.bias": (width,)}
        shapes |= _linear(f"{name}.mlp.0", inner, width) | _linear(f"{name}.mlp.3", following, inner)
        if following != width:
            shapes |= _linear(f"{name}.dim_change", following, width)
        width, index = following, index + 1
    output = "backbone.output_layer"
    shapes |= {f"{output}.0.weight": (width,), f"{output}.0.bias": (width,)}
    return shapes | _linear(f"{output}.1", 1, width)


def _sizes(found: Mapping[str, tuple[int, ...]], name: str) -> tuple[int, int]:
    shape = found.get(name)
    if shape is None:
        raise ValueError(f'tensor "{name}" is missing')
    if len(shape) != 2 or 0 in shape:
        raise ValueError(f'tensor "{name}" has shape {shape}, expected a matrix')
    return shape[0], shape[1]


def _linear(name: str, outputs: int, inputs: int) -> dict[str, tuple[int, ...]]:
    return {f"{name}.weight": (outputs, inputs), f"{name}.bias": (outputs,)}
