"""Random networks in R2R's published layout, converted, with the scores that PyTorch gives.

    python -m training.tests.converted_heads test/fixtures/heads/converted-r2r

writes the fixture of the engine's test: weights random, no trained router.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import torch
from training.routers.convert_r2r import convert
from training.routers.r2r_network import ARCHITECTURE, DivergenceClassifier

TOP = 100
SMALL_WIDTHS = (10, 8, 8)
PUBLISHED_WIDTHS = (1024,) * 6


def write_converted(
    stem: Path, hidden: int, widths: Sequence[int], seed: int, tokens: int = 20
) -> list[float]:
    """Writes STEM.safetensors and STEM.json (inputs and scores of eight rows); returns the scores."""
    torch.manual_seed(seed)
    network = DivergenceClassifier(hidden, TOP, widths).eval()
    embedding = torch.randn(tokens, hidden).mul(0.5).half().float()
    states = torch.randn(8, hidden).mul(4).half().float()
    top = torch.randn(8, TOP).mul(3).half().float().sort(descending=True).values
    sampled = torch.randint(0, tokens, (8,))
    with torch.no_grad():
        # Spreads the scores over (0, 1), as a trained network's are.
        output = network.backbone.output_layer[1]
        logits = network(states, embedding[sampled], top)
        output.weight.mul_(2 / logits.std())
        output.bias.sub_(network(states, embedding[sampled], top).mean())
        scores = network(states, embedding[sampled], top).sigmoid().tolist()
    with tempfile.TemporaryDirectory() as scratch:
        state = {**network.state_dict(), "token_embeddings.weight": embedding}
        torch.save({"model_type": ARCHITECTURE, "state_dict": state}, Path(scratch) / "router.pt")
        convert(Path(scratch) / "router.pt", stem.with_suffix(".safetensors"))
    rows = [
        {"hidden": hidden_row, "topValues": top_row, "sampled": token}
        for hidden_row, top_row, token in zip(states.tolist(), top.tolist(), sampled.tolist(), strict=True)
    ]
    case = {"architecture": ARCHITECTURE, "embedding": embedding.tolist(), "rows": rows, "scores": scores}
    stem.with_suffix(".json").write_text(json.dumps(case) + "\n", encoding="utf-8")
    return scores


if __name__ == "__main__":
    write_converted(Path(sys.argv[1]), 12, SMALL_WIDTHS, 4)
