"""Conversion of published R2R checkpoints: what is kept, where the threshold comes from, what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from training.routers.convert_r2r import convert, main
from training.routers.r2r_layout import load_network
from training.routers.r2r_network import ARCHITECTURE, DivergenceClassifier


def published(hidden: int, widths: list[int], seed: int) -> DivergenceClassifier:
    torch.manual_seed(seed)
    return DivergenceClassifier(hidden, 100, widths).eval()


@pytest.mark.parametrize("wrapped", [False, True])
def test_published_checkpoints_are_converted(tmp_path: Path, wrapped: bool) -> None:
    network = published(24, [16, 12, 12], 3)
    state = {**network.state_dict(), "token_embeddings.weight": torch.randn(50, 24)}
    stored = state
    if wrapped:
        arguments = {"hidden_states_size": 24, "normalize_input": False}
        common = {"threshold": 0.406, "input_type": ["hidden_states", "token", "logits"]}
        stored = {
            "model_type": ARCHITECTURE,
            "init_args": arguments,
            "common_args": common,
            "state_dict": state,
        }
    torch.save(stored, tmp_path / "router.pt")
    count = convert(tmp_path / "router.pt", tmp_path / "head.safetensors")
    assert count == sum(p.numel() for p in network.parameters())
    read, threshold = load_network(tmp_path / "head.safetensors")
    assert threshold == (0.406 if wrapped else None)
    inputs = torch.randn(5, 24), torch.randn(5, 24), torch.randn(5, 100)
    assert torch.equal(read(*inputs), network(*inputs))


def test_the_config_s_threshold_comes_before_the_checkpoint_s(tmp_path: Path) -> None:
    torch.save(
        {"state_dict": published(8, [4], 1).state_dict(), "common_args": {"threshold": 0.4}},
        tmp_path / "r.pt",
    )
    config, out = tmp_path / "r.yaml", tmp_path / "head.safetensors"
    config.write_text("router: {threshold: 0.139}", encoding="utf-8")
    convert(tmp_path / "r.pt", out, config)
    assert load_network(out)[1] == 0.139
    convert(tmp_path / "r.pt", out, config, threshold=0.2)
    assert load_network(out)[1] == 0.2
    config.write_text("router: {}", encoding="utf-8")
    convert(tmp_path / "r.pt", out, config)
    assert load_network(out)[1] == 0.4
    config.write_text("router: {threshold: high}", encoding="utf-8")
    with pytest.raises(
        ValueError, match="r.yaml: router.threshold must be a number from 0 to 1, found 'high'"
    ):
        convert(tmp_path / "r.pt", out, config)


def damaged(change: str) -> dict[str, object]:
    state: dict[str, object] = dict(published(8, [4, 4], 1).state_dict())
    if change == "missing":
        del state["backbone.blocks.1.mlp.3.bias"]
    elif change == "no matrix":
        state["logits_projection.weight"] = torch.zeros(8)
    elif change == "shape":
        state["backbone.output_layer.1.weight"] = torch.zeros(3, 4)
    elif change == "unknown":
        state["layer_norm_hidden_states.weight"] = torch.zeros(8)
    elif change == "text":
        state["note"] = "x"
    return state


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ("missing", '"backbone.blocks.1.mlp.3.bias" is missing'),
        ("no matrix", r'"logits_projection.weight" has shape \(8,\)'),
        ("shape", r'"backbone.output_layer.1.weight" has shape \(3, 4\), expected \(1, 4\)'),
        ("unknown", f'"layer_norm_hidden_states.weight" does not belong to {ARCHITECTURE}'),
        ("text", '"note" is str, not a tensor'),
    ],
)
def test_other_networks_are_refused_by_the_first_tensor_that_differs(
    tmp_path: Path, change: str, problem: str
) -> None:
    torch.save(damaged(change), tmp_path / "router.pt")
    with pytest.raises(ValueError, match=rf"router\.pt: .*{problem}"):
        convert(tmp_path / "router.pt", tmp_path / "head.safetensors")
    assert not (tmp_path / "head.safetensors").exists()


@pytest.mark.parametrize(
    ("wrapper", "problem"),
    [
        ({"model_type": "LogitsClassifier"}, "model_type is LogitsClassifier"),
        ({"init_args": {"normalize_input": True}}, "init_args.normalize_input"),
        ({"init_args": [1]}, "init_args is list, not a dictionary"),
        ({"init_args": {"use_position_embedding": True}}, "init_args.use_position_embedding"),
    ],
)
def test_other_classes_are_refused(tmp_path: Path, wrapper: dict[str, object], problem: str) -> None:
    torch.save({**wrapper, "state_dict": damaged("")}, tmp_path / "router.pt")
    with pytest.raises(ValueError, match=problem):
        convert(tmp_path / "router.pt", tmp_path / "head.safetensors")


class Hostile:
    """Unpickling it would write a file."""

    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self) -> tuple[object, tuple[Path, str]]:
        return Path.write_text, (self.marker, "ran")


def test_files_that_are_no_checkpoints_are_refused_by_name_and_run_no_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    router, marker = tmp_path / "router.pt", tmp_path / "marker"
    torch.save({"x": Hostile(marker)}, tmp_path / "hostile.pt")
    torch.save(damaged(""), tmp_path / "whole.pt")
    cut = (tmp_path / "whole.pt").read_bytes()[:-100]
    for content in (b"", b"garbage", cut, (tmp_path / "hostile.pt").read_bytes()):
        router.write_bytes(content)
        with pytest.raises(ValueError, match=r"router\.pt is no PyTorch file of plain tensors"):
            convert(router, tmp_path / "head.safetensors")
    assert not marker.exists()
    torch.save({1: torch.zeros(2)}, router)
    with pytest.raises(ValueError, match="tensor name 1 is no text"):
        convert(router, tmp_path / "head.safetensors")
    config = tmp_path / "r2r.yaml"
    config.write_text("router: [", encoding="utf-8")
    with pytest.raises(ValueError, match=r"r2r\.yaml"):
        convert(tmp_path / "whole.pt", tmp_path / "head.safetensors", config)
    with pytest.raises(SystemExit) as ended:
        main([str(tmp_path / "nowhere.pt"), str(tmp_path / "head.safetensors")])
    assert ended.value.code == 1
    assert "nowhere.pt" in capsys.readouterr().err
