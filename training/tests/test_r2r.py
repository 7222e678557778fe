"""R2R: its golden vectors, verdicts, network, and rows of a tiny pair."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from training.routers.causal_model import CausalModel
from training.routers.fit import FitOptions
from training.routers.generation import Answer, greedy_answers
from training.routers.golden import main as golden
from training.routers.golden import replay, training_vectors
from training.routers.judges import Cases, Mismatch, always, answer_judge, compare_answers
from training.routers.model_judge import ModelJudge, sentence_end_ids, verdict_of
from training.routers.pair import Pair, load_pair
from training.routers.prompts import Question
from training.routers.r2r_fit import held_out_scores, signal, train_network
from training.routers.r2r_network import DivergenceClassifier
from training.routers.r2r_rows import Collector
from training.routers.rules.r2r import label, mean_loss, positive_weight
from training.routers.signals import StepRows
from training.routers.store import Rows, ShardWriter
from training.tests.tiny_checkpoints import tiny_checkpoint

VECTORS = Path(__file__).resolve().parents[2] / "test" / "fixtures" / "golden" / "routing-vectors.json"
QUESTIONS = [Question(f"How many are {n} and {n}?", None, None, f"q{n}") for n in range(12)]


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Pair:
    """Random models with the family's tokenizer; the larger one has other weights and another width."""
    root = tmp_path_factory.mktemp("pair")
    return load_pair(tiny_checkpoint(root / "small", 1), tiny_checkpoint(root / "large", 2, hidden=48))


def test_all_training_vectors_pass_through_the_functions_of_training(capsys: pytest.CaptureFixture) -> None:
    assert golden([str(VECTORS)]) == 0
    assert "ok r2r-labels" in capsys.readouterr().out


def test_a_changed_vector_fails_and_says_where(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    vectors = training_vectors(VECTORS)
    vectors[0]["expected"]["label"][2] = 0
    assert replay(vectors[0]) == ["label[2]: expected 0, found 1"]
    file = tmp_path / "vectors.json"
    file.write_text(json.dumps({"vectors": vectors}), encoding="utf-8")
    assert golden([str(file)]) == 1
    assert "FAILED r2r-labels; label[2]" in capsys.readouterr().out
    file.write_text('{"vectors": []}', encoding="utf-8")
    assert golden([str(file)]) == 1


def test_the_network_computes_the_golden_vector() -> None:
    [vector] = [
        v
        for v in json.loads(VECTORS.read_text(encoding="utf-8"))["vectors"]
        if v["id"] == "r2r-router-forward"
    ]
    given, net = vector["input"], vector["input"]["net"]
    network = DivergenceClassifier(2, net["topk"], [2, 3], 0.1, [4, 6])
    names = {
        "logits_projection": net["logitsProjection"],
        "combined_projection": net["combinedProjection"],
        "backbone.input_projection": net["inputProjection"],
        "backbone.output_layer.1": net["out"],
        "backbone.blocks.0.dim_change": net["blocks"][0]["skip"],
    }
    norms = {"backbone.output_layer.0": net["outNorm"]}
    for index, block in enumerate(net["blocks"]):
        names |= {
            f"backbone.blocks.{index}.mlp.0": block["up"],
            f"backbone.blocks.{index}.mlp.3": block["down"],
        }
        norms[f"backbone.blocks.{index}.layer_norm"] = block["norm"]
    state = {f"{name}.weight": torch.tensor(layer["w"]) for name, layer in names.items()}
    state |= {f"{name}.bias": torch.tensor(layer["b"], dtype=torch.float32) for name, layer in names.items()}
    state |= {f"{name}.weight": torch.tensor(norm["g"], dtype=torch.float32) for name, norm in norms.items()}
    state |= {f"{name}.bias": torch.tensor(norm["b"], dtype=torch.float32) for name, norm in norms.items()}
    network.load_state_dict(state)
    cases = given["cases"]
    rows = StepRows(
        torch.tensor([case["hidden"] for case in cases]),
        torch.tensor([case["logits"] for case in cases]),
        torch.tensor([case["token"] for case in cases]),
    )
    router = signal(network.eval(), torch.tensor(given["embeddings"]))
    expected = vector["expected"]["results"]
    scores = router.score(rows)
    assert scores.tolist() == pytest.approx([r["divergentProb"] for r in expected], abs=vector["tolerance"])
    sent = router.is_sent(scores, given["threshold"])
    assert sent.tolist() == [result["destination"] == "llm" for result in expected]


def test_verdicts_compare_final_answers() -> None:
    own = "The answer is 5."
    assert compare_answers("The answer is 5.", own, None) == 0
    assert compare_answers("The answer is 6.", own, None) == 1
    assert compare_answers("never ends", own, "5") == 1
    assert compare_answers("The answer is 6.", own, "7") == 0, "the large model was wrong anyway"
    assert compare_answers("The answer is 6.", own, "so it is\n#### 5") == 1
    assert compare_answers("The answer is 6.", "never ends", None) == -1


def test_labels_keep_neutral_and_drop_unreadable_rows() -> None:
    assert label(4, 4, None) == 0
    assert label(4, 5, 1) == 1
    assert label(4, 5, -1) is None
    assert label(4, 5, 1, is_think_end=True) == 0
    assert label(4, 4, None, is_instruction=True) is None
    assert positive_weight(9, 3, 0.5) == 1.5
    assert positive_weight(9, 0) == 1


def test_the_fitted_loss_is_the_rule_s() -> None:
    logits, labels = torch.tensor([2.0, -3.0, 0.5]), torch.tensor([1.0, 0.0, 1.0])
    fitted = torch.nn.functional.binary_cross_entropy_with_logits(
        logits, labels, pos_weight=torch.tensor(4.0)
    )
    assert mean_loss(logits.tolist(), [1, 0, 1], 4.0) == pytest.approx(fitted.item(), abs=1e-6)


def test_folded_scales_change_nothing() -> None:
    torch.manual_seed(0)
    network = DivergenceClassifier(6, 9, [8, 5, 5]).eval()
    raw, top = torch.randn(20, 12) * 7 + 3, torch.randn(20, 9) * 4 + 11
    inputs = torch.stack([raw.mean(0), raw.std(0)])
    scales = torch.stack([top.mean(0), top.std(0)])
    hidden, embedding = ((raw - inputs[0]) / inputs[1]).split(6, 1)
    wanted = network(hidden, embedding, (top - scales[0]) / scales[1])
    network.fold_standardisation(inputs, scales)
    assert torch.allclose(network(*raw.split(6, 1), top), wanted, atol=1e-4)


def test_rows_are_the_small_model_s_view_of_the_large_one_s_answers(pair: Pair) -> None:
    prompts = [pair.prompt_ids(question.text) for question in QUESTIONS]
    greedy = greedy_answers(pair.large, prompts, pair.end_ids, 10, pair.vocabulary)
    # Random models hardly ever end an answer, and only ended ones are kept.
    answers = [Answer(answer.tokens, True) for answer in greedy]
    collector = Collector(pair, always, 10, on_policy=lambda _: answers)
    rows = collector.rows(QUESTIONS, 100)
    assert rows is not None
    assert set(rows["group"].tolist()) == set(range(100, 112))
    counted = collector.counts
    assert counted.tokens == len(rows["label"]) == sum(len(answer.tokens) for answer in answers)
    assert torch.equal(rows["label"] == 1, rows["sampled"] != rows["large"])
    for number, answer in enumerate(answers):
        mine = rows["group"] == 100 + number
        assert rows["large"][mine].tolist() == answer.tokens
        sampled = [
            argmax_after(pair.small, [*prompts[number], *answer.tokens[:at]])
            for at in range(len(answer.tokens))
        ]
        assert rows["sampled"][mine].tolist() == sampled


def test_unfinished_answers_and_unreadable_verdicts_leave_no_rows(pair: Pair) -> None:
    prompts = {tuple(pair.prompt_ids(question.text)): at for at, question in enumerate(QUESTIONS)}
    tokens = [100, 101, 102, 103]

    def half_finished(asked: list[list[int]]) -> list[Answer]:
        return [Answer(tokens, prompts[tuple(ids)] % 2 == 0) for ids in asked]

    collector = Collector(pair, lambda _, cases: [-1] * len(cases.mismatches), 10, half_finished)
    rows = collector.rows(QUESTIONS, 0)
    assert rows is not None
    counts = collector.counts
    assert (counts.answers, counts.unfinished) == (6, 6)
    assert counts.dropped == counts.mismatches > 0
    assert set(rows["group"].tolist()) <= {0, 2, 4, 6, 8, 10}
    assert torch.equal(rows["sampled"], rows["large"])
    assert not rows["label"].any()


def argmax_after(model: CausalModel, ids: list[int]) -> int:
    return int(model.module(input_ids=torch.tensor([ids])).logits[0, -1].argmax())


def test_the_answer_judge_compares_what_the_large_model_makes_of_both_tokens(pair: Pair) -> None:
    """Sequences that end in a final answer after two more tokens, so that random models can be judged."""
    text = "The answer is 4"
    start = pair.prompt_ids("How many?")
    sequence = [*start, *pair.answer_ids(text)]
    room = 1
    gold = Question("How many?", "45", None, "q")
    digits = [pair.answer_ids(digit)[0] for digit in "456"]

    def verdicts(question: Question, small: int, large: int, follows_large: bool) -> list[int]:
        own = [*sequence, large] if follows_large else sequence
        case = Mismatch(0, len(sequence), small, large, follows_large, room)
        return answer_judge(pair, Cases([question], [len(start)], [own], [case]))

    for follows_large in (True, False):
        assert verdicts(gold, digits[2], digits[1], follows_large) == [1]
        assert verdicts(gold, digits[1], digits[1], follows_large) == [0]
        assert verdicts(gold, digits[1], digits[2], follows_large) == [0]
        assert verdicts(replace(gold, answer=None), digits[1], digits[2], follows_large) == [1]
    no_answer = Cases([gold], [len(start)], [[*start, 100]], [Mismatch(0, len(start), 101, 100, True, 1)])
    assert answer_judge(pair, no_answer) == [-1]


def test_a_chat_model_judges_sentences(pair: Pair) -> None:
    ends = sentence_end_ids(pair)
    assert set(pair.answer_ids(".")) | set(pair.answer_ids("\n")) | pair.end_ids <= ends
    assert not set(pair.answer_ids("5 is more")) & ends
    assert (verdict_of("1"), verdict_of("Verdict: 0."), verdict_of("10"), verdict_of("")) == (1, 0, -1, -1)
    start = pair.prompt_ids("How many?")
    case = Mismatch(0, len(start), 101, 100, True, 3)
    cases = Cases(QUESTIONS[:1], [len(start)], [[*start, 100]], [case])
    [verdict] = ModelJudge(pair, None, "cpu")(pair, cases)
    assert verdict in (-1, 0, 1)
    assert ModelJudge(pair, pair.small.directory, "cpu")(pair, replace(cases, mismatches=[])) == []


def separable(directory: Path, seed: int) -> None:
    """Rows whose label is the sign of one hidden dimension, on scales far from 0 and 1."""
    generator = torch.Generator().manual_seed(seed)
    hidden = torch.randn(4000, 8, generator=generator)
    with ShardWriter(directory, 1000) as writer:
        for part in range(0, 4000, 250):
            chosen = hidden[part : part + 250]
            writer.add(
                {
                    "hidden": (chosen * 20 + 50).half(),
                    "top": torch.randn(250, 12, generator=generator).sort(descending=True).values.half(),
                    "sampled": torch.randint(0, 30, (250,), generator=generator).int(),
                    "large": torch.zeros(250, dtype=torch.int32),
                    "label": (chosen[:, 3] > 1.2).to(torch.int8),
                    "group": torch.arange(part, part + 250).int() // 5,
                }
            )


def test_training_learns_a_rule_and_keeps_held_out_questions_apart(tmp_path: Path) -> None:
    separable(tmp_path, 1)
    embedding = torch.randn(30, 8, generator=torch.Generator().manual_seed(2))
    options = FitOptions(learning_rate=3e-3, batch_rows=128, epochs=6, seed=1)
    network, seen, fitted = train_network(Rows([tmp_path]), embedding, [16, 16], 1.0, 0.0, options)
    labels, scores = held_out_scores(network, embedding, seen)
    assert len(labels) == 400 and seen.negatives + seen.positives == 3600
    assert all((batch["group"] % 10 == 0).all() for batch in seen.held_out)
    found = [score > 0.5 for score in scores]
    assert sum(a == bool(b) for a, b in zip(found, labels, strict=True)) > 380
    assert 1 <= fitted.best <= fitted.epochs <= 6
    again, _, _ = train_network(Rows([tmp_path]), embedding, [16, 16], 1.0, 0.0, options)
    assert all(torch.equal(a, b) for a, b in zip(network.parameters(), again.parameters(), strict=True))


def test_one_class_alone_cannot_be_trained_on(tmp_path: Path) -> None:
    with ShardWriter(tmp_path) as writer:
        columns = {name: torch.zeros(4, dtype=torch.int32) for name in ("sampled", "large", "label", "group")}
        writer.add(
            {**columns, "hidden": torch.zeros(4, 8), "top": torch.zeros(4, 12), "group": torch.arange(4)}
        )
    with pytest.raises(ValueError, match="0 divergent and 3 other rows"):
        train_network(Rows([tmp_path]), torch.zeros(3, 8), [4], 1.0, 0.0, FitOptions())
