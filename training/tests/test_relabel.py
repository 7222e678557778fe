"""The learnt judge: what it learns, and what a relabelled collection holds."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from training.routers.algorithms import r2r
from training.routers.algorithms.citer import _limits, _preferences
from training.routers.gold_rows import GOLD_LIMITS
from training.routers.learnt_judge import learn, mismatches
from training.routers.relabel import main
from training.routers.store import Rows, ShardWriter, collection_of, write_facts
from training.scoring import rank_auc
from training.tests.tiny_checkpoints import tiny_checkpoint

WIDTH = 32
EMBEDDING = torch.randn(768, WIDTH, generator=torch.Generator().manual_seed(9))


def rows_of(seed: int, count: int = 3000, judge: bool = True) -> dict[str, torch.Tensor]:
    """Half of the rows are mismatches; one matters if the large model's token is even. groups 0 to 19."""
    draw = torch.Generator().manual_seed(seed)
    sampled = torch.randint(0, 40, (count,), generator=draw)
    differs = torch.rand(count, generator=draw) < 0.5
    large = torch.where(differs, (sampled + 1 + torch.randint(0, 38, (count,), generator=draw)) % 40, sampled)
    matters = differs & (large % 2 == 0) if judge else differs
    return {
        "hidden": torch.randn(count, WIDTH, generator=draw).half(),
        "top": torch.randn(count, 100, generator=draw).sort(descending=True).values.half(),
        "sampled": sampled.int(),
        "large": large.int(),
        "label": matters.to(torch.int8),
        "group": torch.randint(0, 20, (count,), generator=draw).int(),
    }


def test_verdicts_of_new_mismatches_are_learnt() -> None:
    judge = learn([rows_of(1)], EMBEDDING, epochs=25)
    unseen = rows_of(2)
    found = judge.probabilities(unseen)
    differs = mismatches(unseen)
    assert found[~differs].abs().max() == 0
    assert rank_auc(found[differs], unseen["label"][differs] == 1) > 0.95


def test_verdicts_all_alike_teach_nothing() -> None:
    with pytest.raises(ValueError, match="all alike"):
        learn([rows_of(3, judge=False)], EMBEDDING)


def collection(directory: Path, rows: dict[str, torch.Tensor], judge: str) -> Path:
    with ShardWriter(directory) as writer:
        writer.add(rows)
    facts = {"algorithm": "r2r", "problems": "p", "judge": judge, "states": "s"}
    write_facts(directory, facts)
    return directory


def test_a_relabelled_collection_leaves_held_out_questions_to_the_judge(tmp_path: Path) -> None:
    small = tiny_checkpoint(tmp_path / "small", seed=1, hidden=WIDTH)
    judged = collection(tmp_path / "judged", rows_of(4), "answer")
    given = rows_of(5, judge=False)
    many = collection(tmp_path / "many", given, "always")
    out = tmp_path / "out"
    arguments = ["--small", str(small), "--judged", str(judged), "--data", str(many), "--out", str(out)]
    assert main(arguments) == 0
    (written,) = list(Rows([out]).shards())
    kept = given["group"] % 10 != 0
    for name in ("hidden", "top", "sampled", "large", "group"):
        assert torch.equal(written[name], given[name][kept]), name
    labels, differs = written["label"].float(), mismatches(written)
    assert labels[~differs].abs().max() == 0
    truth = (written["large"] % 2 == 0)[differs]
    assert rank_auc(labels[differs], truth) > 0.95
    assert collection_of(out, "r2r")["judge"] == "learnt from answer"
    assert main(arguments) == 1  # never mixed with what is there


def test_citer_reads_judged_rows_the_other_way_round() -> None:
    rows = rows_of(6)
    soft = {**rows, "label": torch.linspace(0, 1, len(rows["label"])).half()}
    seen = _preferences(soft)
    assert set(seen) == {"hidden", "label", "group"}
    assert torch.allclose(seen["label"].float(), 1 - soft["label"].float(), atol=1e-3)
    own = {name: rows[name] for name in ("hidden", "label", "group")}
    assert torch.equal(_preferences(own)["label"].float(), own["label"].float())


def test_citers_card_names_the_judges_of_its_labels() -> None:
    own = {"algorithm": "citer"}
    judged = [{"algorithm": "r2r", "judge": judge} for judge in ("always", "learnt from model", "always")]
    assert _limits([own]) == GOLD_LIMITS
    assert "(R2R's judges: always, learnt from model)" in _limits([own, *judged])


def test_r2rs_card_names_the_states_of_several_collections_once() -> None:
    facts = [{"states": "a"}, {"states": "a"}, {"states": "routed by x"}]
    assert r2r._limits(facts).startswith("The rows are states along a, then routed by x; ")
