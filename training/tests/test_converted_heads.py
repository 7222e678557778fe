"""Converted networks in the engine itself: the committed fixture, and one of the published size."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from safetensors.torch import load_file
from training.tests.converted_heads import PUBLISHED_WIDTHS, SMALL_WIDTHS, write_converted

REPOSITORY = Path(__file__).resolve().parents[2]
FIXTURE = REPOSITORY / "test" / "fixtures" / "heads" / "converted-r2r"
HAS_ENGINE = shutil.which("node") is not None and (REPOSITORY / "node_modules" / "tsx").exists()


def test_the_fixture_of_the_engine_s_test_is_what_is_converted_today(tmp_path: Path) -> None:
    scores = write_converted(tmp_path / "made", 12, SMALL_WIDTHS, 4)
    committed = json.loads(FIXTURE.with_suffix(".json").read_text(encoding="utf-8"))
    assert scores == pytest.approx(committed["scores"], abs=1e-6)
    made, kept = (load_file(stem.with_suffix(".safetensors")) for stem in (tmp_path / "made", FIXTURE))
    assert {name: values.shape for name, values in made.items()} == {
        name: values.shape for name, values in kept.items()
    }


@pytest.mark.skipif(not HAS_ENGINE, reason="needs node and the repository's packages")
def test_a_network_of_the_published_size_scores_alike_in_the_engine(tmp_path: Path) -> None:
    scores = write_converted(tmp_path / "full", 1536, PUBLISHED_WIDTHS, 5)
    done = subprocess.run(
        [
            "node",
            "--import",
            "tsx",
            "test/helpers/head-scores.ts",
            *(str((tmp_path / "full").with_suffix(suffix)) for suffix in (".safetensors", ".json")),
        ],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == pytest.approx(scores, abs=1e-4)
    assert max(scores) - min(scores) > 0.1
