"""What the evaluation's file says of the problems it was made with."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from training import evaluate
from training.problem import Problem
from training.problem_files import held_out_lists, problems_to_choose_by


@pytest.mark.parametrize(
    ("flags", "seed"), [(["--seed", "0"], 0), (["--seed", "7"], 7), (["--test"], "test")], ids=str
)
def test_the_file_names_the_problems_that_were_evaluated(
    flags: list[str], seed: int | str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    evaluated: list[Problem] = []

    def evaluate_split(_models: list[Path], problems: list[Problem], *_rest: object) -> dict[str, int]:
        evaluated.extend(problems)
        return {"problems": len(problems)}

    monkeypatch.setattr(evaluate, "evaluate_split", evaluate_split)
    out = tmp_path / "evaluation.json"
    common = "evaluate --models none --splits numbers --count 5".split()
    monkeypatch.setattr("sys.argv", [*common, *flags, "--out", str(out)])
    evaluate.main()
    drawn = held_out_lists()["test"] if seed == "test" else problems_to_choose_by(5, "numbers", int(seed))
    assert evaluated == drawn[:5]
    assert json.loads(out.read_text()) == {"seed": seed, "splits": {"numbers": {"problems": 5}}}
