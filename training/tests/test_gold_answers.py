"""What counts as the right answer of a problem whose answer is a text, as in GSM8K."""

from __future__ import annotations

import pytest
from training.routers.generation import Answer
from training.routers.gold_rows import gold_chains
from training.routers.pair import Pair, load_pair
from training.routers.prompts import Question
from training.tests.tiny_checkpoints import tiny_checkpoint

SOLUTION = "2+3=5.\nThe answer is 5."


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Pair:
    root = tmp_path_factory.mktemp("pair")
    return load_pair(tiny_checkpoint(root / "small", 1), tiny_checkpoint(root / "large", 2))


def _question(answer: str | None) -> Question:
    return Question("How many are 2 and 3?", answer, SOLUTION, "q:1")


@pytest.mark.parametrize("answer", ["5", "Two and three are five. #### 5", "The answer is 5.", None])
def test_a_chain_knows_the_final_answer_alone(pair: Pair, answer: str | None) -> None:
    (chain,) = gold_chains(pair, [_question(answer)], 0, "solution", 60, "CITER")
    assert chain.answer == "5"


def test_right_answers_of_the_large_model_are_kept_and_wrong_ones_are_not(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    end = min(pair.end_ids)
    written = Answer([*pair.answer_ids(SOLUTION), end], finished=True)
    monkeypatch.setattr("training.routers.gold_rows.greedy_answers_from_drafts", lambda *_: [written])
    for answer, count in (("5", 1), ("five #### 5", 1), ("six #### 6", 0), ("6", 0), (None, 1)):
        assert len(gold_chains(pair, [_question(answer)], 0, "large", 60, "CITER")) == count
