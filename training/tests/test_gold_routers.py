"""CITER and Co-LLM: rows along gold chains, labels, losses, and a whole run on a tiny pair."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from safetensors import safe_open
from training.routers import collect, train
from training.routers.citer_labels import Labeller
from training.routers.citer_network import ConfidenceMlp, citer_signal, load_confidence
from training.routers.co_llm_head import marginal_losses, supervised_losses
from training.routers.export import write_head
from training.routers.fit import binary_losses
from training.routers.generation import greedy_answers
from training.routers.gold_rows import ChainRows, chain_rows, gold_chains
from training.routers.pair import Pair, load_pair
from training.routers.prompts import Question
from training.routers.routed import routed_answers
from training.routers.rules import citer, co_llm
from training.routers.signals import StepRows
from training.tests.tiny_checkpoints import tiny_checkpoint

QUESTIONS = [
    Question("How many are 2 and 3?", "5", "2+3=5.\nThe answer is 5.", "q:1"),
    Question("Ora has 9 stones. How many?", "9", "The answer is 9.", "q:2"),
]


@pytest.fixture(scope="module")
def checkpoints(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    root = tmp_path_factory.mktemp("pair")
    return tiny_checkpoint(root / "small", 1), tiny_checkpoint(root / "large", 2, hidden=48)


@pytest.fixture(scope="module")
def pair(checkpoints: tuple[Path, Path]) -> Pair:
    return load_pair(*checkpoints)


@pytest.fixture(scope="module")
def rows(pair: Pair) -> list[ChainRows]:
    return list(chain_rows(pair, gold_chains(pair, QUESTIONS, 7, "solution", 60, "CITER")))


def test_rows_hold_what_both_models_say_of_each_gold_token(pair: Pair, rows: list[ChainRows]) -> None:
    for row in rows:
        columns, chain = row.columns(), row.chain
        assert pair.text(chain.gold) == chain.question.solution
        assert chain.gold[-1] in pair.end_ids
        ids = torch.tensor([chain.sequence])
        for model, name, tokens in ((pair.small, "small", "sampled"), (pair.large, "large", "large")):
            logits = model.module(input_ids=ids).logits[0, len(chain.prompt) - 1 : -1]
            expected = logits.log_softmax(-1)[range(len(chain.gold)), chain.gold]
            assert torch.allclose(columns[f"log_p_{name}"], expected, atol=1e-4)
            assert columns[tokens].tolist() == logits.argmax(-1).tolist()
        assert columns["gold"].tolist() == chain.gold
    assert sorted({int(row.columns()["group"][0]) for row in rows}) == [7, 8]


def test_gold_of_the_large_model_drops_unfinished_and_wrong_answers(pair: Pair) -> None:
    prompts = [pair.prompt_ids(question.text) for question in QUESTIONS]
    answers = greedy_answers(pair.large, prompts, pair.end_ids, 60)
    unknown = [Question(q.text, None, None, q.where) for q in QUESTIONS]
    chains = gold_chains(pair, unknown, 0, "large", 60, "CITER")
    assert [chain.gold for chain in chains] == [answer.tokens for answer in answers if answer.finished]
    # Random models never write the right answer.
    assert gold_chains(pair, QUESTIONS, 0, "large", 60, "CITER") == []


def test_a_missing_solution_is_named(pair: Pair) -> None:
    question = Question("1+1?", "2", None, "problems.jsonl:4")
    with pytest.raises(ValueError, match=r'problems.jsonl:4: "solution" is missing, Co-LLM needs it'):
        gold_chains(pair, [question], 0, "solution", 60, "Co-LLM")


def _row(pair: Pair, row: ChainRows, at: int, small: int, large: int) -> ChainRows:
    """The row as if both models were right everywhere but at one place."""

    def says(token: int) -> SimpleNamespace:
        argmax = torch.tensor(row.chain.gold)
        argmax[at] = token
        return SimpleNamespace(argmax=argmax)

    return ChainRows(row.chain, says(small), says(large))


def _wrong(row: ChainRows, at: int) -> int:
    return row.chain.gold[at] + 1


def test_labels_follow_the_gold_token(pair: Pair, rows: list[ChainRows]) -> None:
    gold = rows[0].chain.gold
    only_large = _row(pair, rows[0], 2, _wrong(rows[0], 2), gold[2])
    only_small = _row(pair, rows[0], 2, gold[2], _wrong(rows[0], 2))
    labelled = Labeller(pair, 60, None).labels([only_large, only_small])
    everywhere = [1] * len(gold)
    assert labelled == [(everywhere[:2] + [0] + everywhere[3:], 0), (everywhere, 0)]


@pytest.mark.parametrize("is_routed", [False, True])
def test_roll_outs_go_on_from_the_small_models_token(
    pair: Pair, rows: list[ChainRows], is_routed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    router = None
    if is_routed:
        router = tmp_path / "head.safetensors"
        torch.manual_seed(3)
        network = ConfidenceMlp(pair.small.hidden_size)
        write_head(router, "BatchNormMlp", network.stored(), 0.5, None)
    row = _row(pair, rows[0], 3, 50, 51)
    chain = row.chain
    prefix = [*chain.sequence[: len(chain.prompt) + 3], 50]
    if is_routed:
        tail = routed_answers(pair, [prefix], citer_signal(network), 0.5, 56)[0].tokens
    else:
        tail = greedy_answers(pair.small, [prefix], pair.end_ids, 56)[0].tokens
    judged: list[str | None] = []
    monkeypatch.setattr("training.routers.citer_labels.final_answer", lambda text: judged.append(text) or "5")
    ((labels, asked),) = Labeller(pair, 60, router).labels([row])
    assert (labels[3], asked) == (1, 1)
    assert judged == [pair.text([*prefix[len(chain.prompt) :], *tail])]


def test_without_a_verdict_there_is_no_label() -> None:
    with pytest.raises(ValueError, match="roll-out"):
        citer.label(4, 5, 6)
    assert [citer.label(4, 5, 6, is_right) for is_right in (True, False)] == [1, 0]


def test_the_losses_of_the_fit_are_those_of_the_rules() -> None:
    torch.manual_seed(5)
    logits, base, assistant = (
        torch.randn(40) * 6,
        torch.randn(40).abs().neg() * 5,
        torch.randn(40).abs().neg(),
    )
    logits.requires_grad_()
    losses = marginal_losses(logits, {"log_p_small": base, "log_p_large": assistant})
    losses.sum().backward()
    tokens = list(zip(logits.tolist(), base.tolist(), assistant.tolist(), strict=True))
    assert losses.tolist() == pytest.approx([co_llm.token_loss(*token) for token in tokens], abs=1e-5)
    assert logits.grad.tolist() == pytest.approx(
        [co_llm.token_gradient(*token) for token in tokens], abs=1e-5
    )
    labels = torch.randint(0, 2, (40,))
    batch = {"log_p_small": base, "log_p_large": assistant, "label": labels}
    mixed = supervised_losses(0.25)(logits.detach(), batch)
    binary = binary_losses(5.0)(logits.detach(), batch)
    assert torch.allclose(mixed, 0.75 * losses.detach() + 0.25 * binary)
    ours = binary_losses()(logits.detach(), {"label": labels}).mean().item()
    assert ours == pytest.approx(
        citer.mean_loss(logits.double().sigmoid().tolist(), labels.tolist()), abs=1e-5
    )


def test_rows_of_a_confidence_network_do_not_see_each_other(tmp_path: Path) -> None:
    torch.manual_seed(1)
    network = ConfidenceMlp(8)
    network(torch.randn(50, 8) * 3)
    write_head(tmp_path / "head.safetensors", "BatchNormMlp", network.stored(), 0.8, None)
    loaded, threshold = load_confidence(tmp_path / "head.safetensors")
    assert threshold == 0.8
    hidden = torch.randn(6, 8)
    together = citer_signal(loaded).score(StepRows(hidden, hidden, hidden))
    alone = [citer_signal(network).score(StepRows(row, row, row)).item() for row in hidden.split(1)]
    assert together.tolist() == pytest.approx(alone, abs=1e-6)


@pytest.mark.parametrize(("algorithm", "architecture"), [("citer", "BatchNormMlp"), ("co-llm", "LinearHead")])
def test_a_whole_run_writes_a_head_with_its_threshold_and_curve(
    checkpoints: tuple[Path, Path], tmp_path: Path, algorithm: str, architecture: str
) -> None:
    models = ["--small", str(checkpoints[0]), "--large", str(checkpoints[1])]
    common = ["--algorithm", algorithm, *models, "--max-new-tokens", "60"]
    problems = tmp_path / "problems.jsonl"
    lines = [
        {"question": f"What are {n} and 3?", "answer": n + 3, "solution": f"The answer is {n + 3}."}
        for n in range(12)
    ]
    problems.write_text("\n".join(map(json.dumps, lines)))
    collect.main([*common, "--problems", str(problems), "--out", str(tmp_path / "rows")])
    options = ["--data", str(tmp_path / "rows"), "--epochs", "3", "--validation", str(problems)]
    for rule in ("share:0.5", "score"):
        out = tmp_path / rule
        train.main([*common, *options, "--threshold", rule, "--max-share", "1", "--out", str(out)])
        with safe_open(out / "head.safetensors", "pt") as file:
            metadata = file.metadata()
        assert metadata["architecture"] == architecture
        calibration = json.loads((out / "calibration.json").read_text())
        assert float(metadata["threshold"]) == calibration["threshold"]
        measured = {"share", "exact"} if rule == "score" else set()
        assert {"threshold", "rows sent", "recall"} | measured == set(calibration["curve"][0])
        assert len(calibration["entropy"]) > 0 or rule != "score"
        assert "| threshold |" in (out / "README.md").read_text()
