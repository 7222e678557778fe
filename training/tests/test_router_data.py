"""What router training reads and writes: problems, answers, shards, thresholds, heads and cards."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
import torch
from safetensors import safe_open
from training.generator import is_held_out, problem_list
from training.problem_files import held_out_lists
from training.routers.answers import final_answer, is_right, same_answer
from training.routers.calibrate import at_threshold, by_recall, by_share, linear_grid, threshold_rule
from training.routers.collect import main as collect
from training.routers.export import table, write_card, write_head
from training.routers.prompts import read_questions, training_questions, validation_questions
from training.routers.store import Rows, ShardWriter, collection_of, write_facts

FILE = "problems.jsonl"


def written(directory: Path, *lines: str) -> Path:
    path = directory / FILE
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def test_embedded_problems_are_the_training_split_with_their_reasoning() -> None:
    found = training_questions("embedded:20:4")
    assert [q.text for q in found] == [p.question for p in problem_list(20, "train", 4)]
    assert all(q.solution and q.solution.endswith(f"The answer is {q.answer}.") for q in found)


def test_embedded_validation_is_held_out_and_apart_from_the_test_lists() -> None:
    found = {q.text for q in validation_questions("embedded:60:4")}
    lists = held_out_lists()
    assert not found & {p.question for p in [*lists["test"], *lists["test-sentences"]]}
    assert not found & {p.question for p in problem_list(200, "train", 4)}
    by_question = {p.question: p for p in problem_list(200, "numbers", 4)}
    assert all(is_held_out(by_question[text].kind, by_question[text].numbers) for text in found)


@pytest.mark.parametrize(
    "source", ["embedded", "embedded:5", "embedded:0:1", "embedded:5:x", "embedded:5:1:2"]
)
def test_a_malformed_embedded_source_is_refused(source: str) -> None:
    with pytest.raises(ValueError, match="embedded:COUNT:SEED"):
        training_questions(source)


def test_a_device_that_is_not_there_is_refused_under_its_flag(capsys: pytest.CaptureFixture) -> None:
    paths = ["--small", "models/small", "--large", "models/large", "--out", "nowhere"]
    with pytest.raises(SystemExit, match="2"):
        collect(["--algorithm", "r2r", "--problems", "embedded:1:1", *paths, "--device", "nope"])
    assert re.search(r'error: argument --device: "nope" is no device .*: .*nope\n$', capsys.readouterr().err)


def test_problem_files_give_texts_numbers_and_lines(tmp_path: Path) -> None:
    path = written(tmp_path, '{"question": "a", "answer": 4}', "", '{"question": "b", "solution": "so 5"}')
    first, second = read_questions(path)
    assert (first.answer, first.solution, first.where) == ("4", None, f"{path}:1")
    assert (second.answer, second.solution, second.where) == (None, "so 5", f"{path}:3")
    assert second.required("solution", "CITER") == "so 5"
    with pytest.raises(ValueError, match=rf'{FILE}:3: "answer" is missing, CITER needs it$'):
        second.required("answer", "CITER")


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{", "not JSON"),
        ("[1]", "expected an object"),
        ('{"answer": 3}', '"question" is missing or empty'),
        ('{"question": ""}', '"question" is missing or empty'),
        ('{"question": 5}', '"question" must be a text, found int'),
        ('{"question": "a", "answer": [1]}', '"answer" must be a text, found list'),
        ('{"question": "a", "solution": 2}', '"solution" must be a text, found int'),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, line: str, problem: str) -> None:
    with pytest.raises(ValueError, match=f"{FILE}:2: {problem}"):
        read_questions(written(tmp_path, '{"question": "a"}', line))
    with pytest.raises(ValueError, match="no problems"):
        read_questions(written(tmp_path, ""))
    (tmp_path / FILE).write_bytes(b"\xff\xfe")
    with pytest.raises(ValueError, match=f"{FILE}: not UTF-8"):
        read_questions(tmp_path / FILE)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("So 4+5=9.\nThe answer is 9.", "9"),
        (r"\boxed{3} or rather \boxed{ 1,204 }.", "1,204"),
        ("it follows.\n#### 72", "72"),
        ("The answer is: $18.50.", "18.50"),
        ("no number here", None),
    ],
)
def test_final_answers_are_found(text: str, answer: str | None) -> None:
    assert final_answer(text) == answer


def test_answers_are_equal_as_numbers_or_as_texts() -> None:
    assert same_answer("1,204", "1204.0")
    assert same_answer("Yes.", "yes")
    assert not same_answer("12", "120")
    assert not same_answer(None, None)
    assert is_right("The answer is 42.", "42")
    assert is_right(r"\boxed{42}", "first 40, then 42\n#### 42")


def test_shards_keep_every_row_once_whatever_the_memory(tmp_path: Path) -> None:
    with ShardWriter(tmp_path, shard_rows=10) as writer:
        for start in range(0, 45, 3):
            ids = torch.arange(start, start + 3)
            writer.add({"id": ids, "double": ids.float() * 2})
    assert writer.rows == 45
    assert len(list(tmp_path.glob("shard-*"))) == 4
    for buffer_rows in (12, 24, 1000):
        rows = Rows([tmp_path], buffer_rows)
        orders = []
        for seed in (0, 1):
            batches = list(rows.shuffled(7, random.Random(seed)))
            assert all(torch.equal(b["double"], b["id"].float() * 2) for b in batches)
            orders.append(torch.cat([b["id"] for b in batches]).tolist())
            assert sorted(orders[-1]) == list(range(45))
        assert orders[0] != orders[1]
        assert torch.cat([s["id"] for s in rows.shards()]).tolist() == list(range(45))


def test_collections_are_not_mixed_up(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    with ShardWriter(one) as writer:
        writer.add({"a": torch.zeros(2)})
        with pytest.raises(ValueError, match="different lengths"):
            writer.add({"a": torch.zeros(2), "b": torch.zeros(3)})
        with pytest.raises(ValueError, match="columns"):
            writer.add({"b": torch.zeros(2)})
    with pytest.raises(ValueError, match="already"):
        ShardWriter(one)
    with ShardWriter(other) as writer:
        writer.add({"b": torch.zeros(2)})
    with pytest.raises(ValueError, match="different columns"):
        list(Rows([one, other]).shuffled(4, random.Random(0)))
    with pytest.raises(ValueError, match="no shards"):
        Rows([tmp_path / "missing"])
    with pytest.raises(ValueError, match="collection.json is missing"):
        collection_of(one, "r2r")
    write_facts(one, {"algorithm": "r2r"})
    with pytest.raises(ValueError, match="collected for r2r, not for citer"):
        collection_of(one, "citer")


@pytest.mark.parametrize("facts", ["{", "[]"])
def test_a_damaged_collection_is_named(tmp_path: Path, facts: str) -> None:
    with ShardWriter(tmp_path) as writer:
        writer.add({"a": torch.zeros(2)})
    (tmp_path / "collection.json").write_text(facts, encoding="utf-8")
    with pytest.raises(ValueError, match=r"collection\.json: "):
        collection_of(tmp_path, "r2r")
    (shard,) = tmp_path.glob("shard-*.safetensors")
    shard.write_bytes(shard.read_bytes()[:-1])
    with pytest.raises(ValueError, match=r"shard-00000\.safetensors: "):
        list(Rows([tmp_path]).shards())


@pytest.mark.parametrize(
    ("option", "value", "problem"),
    [
        ("--problems", "nowhere.jsonl", r"nowhere\.jsonl"),
        ("--max-new-tokens", "0", "no integer of 1 or more"),
        ("--threads", "-1", "no integer of 1 or more"),
    ],
)
def test_wrong_options_of_collect_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], option: str, value: str, problem: str
) -> None:
    pair = [f"--small={tmp_path}", f"--large={tmp_path}"]
    with pytest.raises(SystemExit) as ended:
        collect(
            [
                "--algorithm=r2r",
                *pair,
                "--problems=embedded:1:1",
                f"--out={tmp_path / 'o'}",
                f"{option}={value}",
            ]
        )
    assert ended.value.code in (1, 2)
    assert re.search(problem, capsys.readouterr().err)


def test_an_interrupted_collection_writes_no_last_shard(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), ShardWriter(tmp_path) as writer:
        writer.add({"a": torch.zeros(2)})
        raise RuntimeError
    assert not list(tmp_path.glob("shard-*"))


def random_rows(rng: random.Random) -> tuple[list[int], list[float]]:
    count = rng.randint(1, 60)
    labels = [int(rng.random() < 0.3) for _ in range(count)]
    return labels, [round(min(1, rng.random() + 0.4 * label), 1) for label in labels]


def test_the_recall_rule_is_the_cheapest_of_the_grid_that_reaches_the_recall() -> None:
    rng = random.Random(1)
    grid = linear_grid(count=30)
    for _ in range(200):
        labels, scores = random_rows(rng)
        found = by_recall(labels, scores, 0.9, grid)
        reaching = [
            at_threshold(labels, scores, t)[1] for t in grid if at_threshold(labels, scores, t)[0] >= 0.9
        ]
        assert found.found == bool(reaching)
        assert (found.recall, found.share) == at_threshold(labels, scores, found.threshold)
        if reaching:
            assert found.share == min(reaching)


def test_the_share_rule_sends_as_much_as_allowed_and_no_more() -> None:
    rng = random.Random(2)
    for _ in range(200):
        labels, scores = random_rows(rng)
        share = rng.random()
        found = by_share(labels, scores, share)
        assert found.share <= share + 1e-9
        lower = [score for score in scores if score < found.threshold]
        if lower:
            assert at_threshold(labels, scores, max(lower))[1] > share - 1e-9


@pytest.mark.parametrize("text", ["recall", "recall:0", "share:1.5", "share:x", "best", "score:0.5"])
def test_unknown_threshold_rules_are_refused(text: str) -> None:
    with pytest.raises(Exception, match="is none of"):
        threshold_rule(text)
    assert threshold_rule("share:0.07").value == 0.07


def test_a_head_file_holds_what_the_engine_reads(tmp_path: Path) -> None:
    path = tmp_path / "r" / "head.safetensors"
    tensors = {"weight": torch.tensor([[1.0, 2.0]]).t().t(), "bias": torch.tensor([0.5])}
    write_head(path, "LinearHead", tensors, 0.25, 768, torch.float16, {"judge": "answer"})
    with safe_open(path, "pt") as file:
        assert file.metadata() == {
            "architecture": "LinearHead",
            "threshold": "0.25",
            "vocab_size": "768",
            "judge": "answer",
        }
        assert file.get_tensor("weight").dtype == torch.float16
    with pytest.raises(ValueError, match="not in"):
        write_head(path, "LinearHead", tensors, 1.5, None)
    with pytest.raises(ValueError, match='"bias" is not finite'):
        write_head(path, "LinearHead", {"bias": torch.tensor([1e6])}, None, None, torch.float16)


def test_a_card_names_its_facts_and_its_curve(tmp_path: Path) -> None:
    curve = [{"threshold": 0.5, "share": 0.0712345}, {"threshold": 0.6, "share": 0.05}]
    assert table(curve)[2] == "| 0.5 | 0.07123 |"
    assert table([]) == []
    write_card(tmp_path, "A router", "What it is.", {"judge": "answer"}, curve, "Its limits.")
    card = (tmp_path / "README.md").read_text(encoding="utf-8")
    for text in ("# A router", "What it is.", "| judge | answer |", "| 0.6 | 0.05 |", "Its limits."):
        assert text in card
