"""The two models of a router: decoding, forks of a lane, drafts and teacher forcing against plain forward passes."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from training.routers.causal_model import CausalModel
from training.routers.continuation import Cut, greedy_continuations
from training.routers.drafts import greedy_answers_from_drafts
from training.routers.generation import Answer, greedy_answers
from training.routers.pair import check_same_tokens, load_pair
from training.routers.teacher import teacher_force
from training.tests.tiny_checkpoints import tiny_checkpoint
from training.tokenizer import END_ID

STOP = frozenset({END_ID})
PROMPTS = [[2, 50, 60, 70, 1, 3], [2, 81, 1, 3], [2, 90, 91, 92, 93, 94, 95, 1, 3]]


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_checkpoint(tmp_path_factory.mktemp("model"), 1)


@pytest.fixture(scope="module")
def model(directory: Path) -> CausalModel:
    return CausalModel(directory)


def plain_answer(model: CausalModel, prompt: list[int], count: int) -> Answer:
    """By the model's own forward pass over the whole prefix for every token."""
    ids = list(prompt)
    answer = Answer()
    while len(answer.tokens) < count and not answer.finished:
        token = int(model.module(input_ids=torch.tensor([ids])).logits[0, -1].argmax())
        ids.append(token)
        answer.tokens.append(token)
        answer.finished = token in STOP
    return answer


def test_decoding_a_ragged_batch_equals_plain_forward_passes(model: CausalModel) -> None:
    answers = greedy_answers(model, PROMPTS, STOP, 20, batch_rows=2)
    assert answers == [plain_answer(model, prompt, 20) for prompt in PROMPTS]
    assert len({tuple(answer.tokens) for answer in answers}) == len(PROMPTS)


def test_the_grouped_attention_equals_transformers_own(directory: Path, model: CausalModel) -> None:
    eager = CausalModel(directory, attention="eager")
    ids = torch.tensor(PROMPTS[2:])
    mask = torch.tensor([[0, 0, 1, 1, 1, 1, 1, 1, 1]])
    positions = (mask.cumsum(1) - 1).clamp(min=0)
    ours, theirs = model.states(ids, mask, positions), eager.states(ids, mask, positions)
    assert torch.allclose(ours[:, 2:], theirs[:, 2:], atol=1e-5)


def test_continuations_from_inside_sequences_equal_those_from_prefixes(model: CausalModel) -> None:
    sequences = [[*prompt, *range(100, 108)] for prompt in PROMPTS]
    cuts = [
        Cut(0, 7, 200, 12),
        Cut(0, 14, 201, 12),
        Cut(2, 9, 202, 5),
        Cut(1, 4, 203, 12),
        Cut(1, 8, END_ID, 9),
    ]
    found = greedy_continuations(model, sequences, cuts, STOP, batch_rows=3)
    for cut, answer in zip(cuts, found, strict=True):
        prefix = [*sequences[cut.sequence][: cut.length], cut.token]
        rest = Answer() if cut.token in STOP else plain_answer(model, prefix, cut.room - 1)
        assert answer.tokens == [cut.token, *rest.tokens]
        assert answer.finished == (answer.tokens[-1] in STOP)


def test_a_model_with_a_window_reads_every_prefix_anew(tmp_path: Path) -> None:
    layers = ["sliding_attention", "full_attention"]
    windowed = CausalModel(
        tiny_checkpoint(tmp_path, 3, use_sliding_window=True, sliding_window=4, layer_types=layers)
    )
    assert not windowed.has_full_attention
    sequences = [[*PROMPTS[2], *range(100, 108)]]
    cut = Cut(0, 11, 200, 6)
    [answer] = greedy_continuations(windowed, sequences, [cut], STOP)
    assert answer.tokens[1:] == plain_answer(windowed, [*sequences[0][:11], 200], 5).tokens


def test_answers_do_not_depend_on_their_drafts(model: CausalModel) -> None:
    wanted = [plain_answer(model, prompt, 16) for prompt in PROMPTS]
    right = [answer.tokens for answer in wanted]
    wrong = [*right[1][:5], 9, *right[1][6:]]
    for drafts in (
        [None] * 3,
        right,
        [right[0][:3], wrong, None],
        [[*right[0], 77, 78], wrong[:1], right[1]],
    ):
        assert greedy_answers_from_drafts(model, PROMPTS, drafts, STOP, 16) == wanted


def test_a_draft_ends_at_its_first_stop_token(model: CausalModel) -> None:
    first = plain_answer(model, PROMPTS[0], 6).tokens
    stop = frozenset({first[3]})
    expected = Answer(first[: first.index(first[3]) + 1], True)
    assert greedy_answers_from_drafts(model, PROMPTS[:1], [first], stop, 16) == [expected]


def test_teacher_forcing_gives_the_rows_that_predict_each_answer_token(model: CausalModel) -> None:
    sequences = [[*prompt, 100, 101, 102] for prompt in PROMPTS]
    lengths = [len(prompt) for prompt in PROMPTS]
    forced = {row.index: row for row in teacher_force(model, sequences, lengths, top=7, batch_tokens=20)}
    assert sorted(forced) == [0, 1, 2]
    for index, sequence in enumerate(sequences):
        logits = model.module(input_ids=torch.tensor([sequence])).logits[0, lengths[index] - 1 : -1]
        row = forced[index]
        assert torch.allclose(model.logits(row.hidden), logits, atol=1e-4)
        assert torch.allclose(row.top, logits.sort(-1, descending=True).values[:, :7], atol=1e-4)
        assert row.argmax.tolist() == logits.argmax(-1).tolist()
        own = logits.log_softmax(-1)[torch.arange(3), torch.tensor(sequence[-3:])]
        assert torch.allclose(row.log_probability, own, atol=1e-4)


def test_ids_beyond_the_vocabulary_are_never_chosen(model: CausalModel) -> None:
    [answer] = greedy_answers(model, PROMPTS[:1], STOP, 12, vocabulary=40)
    assert max(answer.tokens) < 40


def test_a_pair_needs_equal_tokenizers(directory: Path, tmp_path: Path) -> None:
    other = tiny_checkpoint(tmp_path / "other", 2)
    pair = load_pair(directory, other)
    assert pair.end_ids == STOP
    assert pair.text(pair.prompt_ids("How many?")) == "How many?"
    text = (other / "tokenizer.json").read_text(encoding="utf-8").replace('"<|user|>"', '"<|usher|>"')
    (other / "tokenizer.json").write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=r"differ at id 2: '<\|user\|>' in .*, '<\|usher\|>' in .*other"):
        load_pair(directory, other)


def test_the_first_id_that_differs_is_named_where_one_tokenizer_is_longer() -> None:
    with pytest.raises(ValueError, match="id 1: None in a, 'y' in b"):
        check_same_tokens(Path("a"), {"x": 0}, Path("b"), {"x": 0, "y": 1})
