"""golden.py --check: recomputes the fixtures from the files on disk and fails on a difference."""

import torch
from safetensors.torch import load_file

from golden_records import (
    embedded_golden,
    forward,
    forward_cached,
    golden_tensors,
    load_model,
    read_json,
    tokenizer_golden,
)

# Another processor sums in another order: the recomputed values may differ by that much and no more.
RECOMPUTE_TOLERANCE = 5e-5
ROUNDING_TOLERANCE = 1e-4


def expect(condition, message):
    """Fails the check."""
    if not condition:
        raise SystemExit(f"check failed: {message}")


def check_tensors(label, source, directory):
    """Stored goldens equal a new forward pass; decoding over a cache and float64 arithmetic differ by rounding only."""
    model, double = load_model(source), load_model(source, torch.float64)
    stored = load_file(str(directory / "golden.safetensors"))
    sequences = [s["ids"] for s in read_json(directory / "golden.json")["sequences"]]
    fresh = golden_tensors(model, sequences)
    expect(sorted(stored) == sorted(fresh), f"{label}: keys {sorted(stored)}")
    worst = max(float((stored[k] - fresh[k]).abs().max()) for k in fresh)
    numbered = list(enumerate(sequences))
    cached = max(float((stored[f"logits.{i}"] - forward_cached(model, ids)).abs().max()) for i, ids in numbered)
    noise = max(float((stored[f"logits.{i}"] - forward(double, ids)[0]).abs().max()) for i, ids in numbered)
    shapes = ", ".join(f"{k} {list(v.shape)}" for k, v in sorted(stored.items()))
    std = float(torch.cat([v.flatten() for k, v in stored.items() if k.startswith("logits")]).std())
    print(f"{label}: recomputed {worst:.1e}, cached {cached:.1e}, float64 {noise:.1e}, logit std {std:.2f}; {shapes}")
    expect(all(v.dtype == torch.float32 and bool(v.isfinite().all()) for v in stored.values()), f"{label}: dtype or value")
    expect(worst <= RECOMPUTE_TOLERANCE, f"{label}: recomputed goldens differ by {worst}")
    expect(max(cached, noise) <= ROUNDING_TOLERANCE, f"{label}: cached decoding differs by {cached}, float64 by {noise}")
    return stored, sequences


def check_tiny(spec, directory):
    """Beside the tensors: stored dtypes, and that an engine that ignores a feature of the checkpoint would be seen."""
    stored, sequences = check_tensors(spec["name"], directory, directory)
    index = max(range(len(sequences)), key=lambda i: len(sequences[i]))
    want, ids = stored[f"logits.{index}"], sequences[index]
    files = sorted(directory.glob("model*.safetensors"))
    dtypes = {tensor.dtype for file in files for tensor in load_file(str(file)).values()}
    expect(dtypes == {spec["dtype"]} and len(files) >= spec["files"], f"{spec['name']}: {len(files)} files of {dtypes}")
    for label, damage in spec["damages"].items():
        model = load_model(directory)
        with torch.no_grad():
            damage(model)
        effect = float((forward(model, ids)[0] - want).abs().max())
        print(f"  without {label}: {effect:.2f}")
        expect(effect > 0.05, f"{spec['name']}: {label} hardly matters")


def check_embedded(source, directory):
    """Beside the tensors: everything in the JSON, greedy continuations included."""
    label = f"embedded-{source.name}"
    check_tensors(label, source, directory)
    stored, fresh = read_json(directory / "golden.json"), embedded_golden(source)[0]
    for old, new in zip(stored["greedy"], fresh["greedy"], strict=True):
        drift = abs(old.pop("minMargin") - new.pop("minMargin"))
        expect(drift <= 1e-3, f"{label}: the margin of a greedy continuation moved by {drift}")
    expect(stored == fresh, f"{label}: golden.json differs")


def check_tokenizer(source, path):
    """The tokenizer's goldens are what transformers answers now."""
    expect(read_json(path) == tokenizer_golden(source), f"{path.name} differs")
