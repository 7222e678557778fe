"""Cached decoding, the routing rules and the scores."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import torch
from training.checkpoint import load_model, save_model
from training.decode import Generation, generate
from training.generator import problem_list
from training.model import SIZES, LanguageModel
from training.scoring import (
    entropy_rule,
    is_right,
    normalised_entropy,
    random_rule,
    rank_auc,
    summarise,
)
from training.tokenizer import END_ID, load_tokenizer

SMALL = Path(__file__).resolve().parents[2] / "models" / "small"
VOCABULARY = 768
PROMPTS = [[2, 50, 60, 70, 1, 3], [2, 81, 1, 3], [2, 90, 91, 92, 93, 94, 95, 1, 3]]


def tiny(seed: int) -> LanguageModel:
    torch.manual_seed(seed)
    model = LanguageModel(SIZES["tiny"], VOCABULARY).eval()
    with torch.no_grad():
        model.model.embed_tokens.weight.mul_(40)  # logits apart enough for stable maxima
    return model


@torch.no_grad()
def uncached(model: LanguageModel, prompt: list[int], count: int) -> list[int]:
    ids = list(prompt)
    for _ in range(count):
        ids.append(int(model(torch.tensor([ids]))[0, -1].argmax()))
        if ids[-1] == END_ID:
            break
    return ids[len(prompt) :]


def test_ragged_cached_decoding_equals_decoding_without_a_cache() -> None:
    model = tiny(1)
    together = generate([model], PROMPTS, max_new_tokens=20)
    for prompt, generation in zip(PROMPTS, together, strict=True):
        assert generation.tokens == uncached(model, prompt, 20)


def test_rows_that_end_leave_the_others_unchanged() -> None:
    small, large = tiny(1), tiny(2)
    ends_early = [generate([small], [p], max_new_tokens=20)[0].tokens for p in PROMPTS]

    def cut_second_row(logits: list[torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor]:
        tokens = logits[0].argmax(-1)
        if len(tokens) == 3:
            tokens[1] = END_ID
        return tokens, torch.zeros(len(tokens))

    results = generate([small, large], PROMPTS, cut_second_row, max_new_tokens=20)
    assert results[1].tokens == [END_ID]
    assert results[0].tokens == ends_early[0]
    assert results[2].tokens == ends_early[2]


def test_extreme_thresholds_are_the_models_alone() -> None:
    small, large = tiny(1), tiny(2)
    for model, threshold, note in ((small, 1.1, 0.0), (large, -1.0, 1.0)):
        routed = generate([small, large], PROMPTS, entropy_rule(threshold), max_new_tokens=15)
        alone = generate([model], PROMPTS, max_new_tokens=15)
        assert [r.tokens for r in routed] == [a.tokens for a in alone]
        assert all(n == note for r in routed for n in r.notes)


def test_random_rule_keeps_its_share() -> None:
    rule = random_rule(0.3, seed=1)
    logits = [torch.zeros(500, 4), torch.zeros(500, 4)]
    share = torch.cat([rule(logits)[1] for _ in range(20)]).mean().item()
    assert share == pytest.approx(0.3, abs=0.02)


def test_prompt_without_room_is_refused() -> None:
    with pytest.raises(ValueError, match="leaves no room"):
        generate([tiny(1)], [[2] * 512])


def test_normalised_entropy_spans_zero_to_one() -> None:
    certain = torch.full((1, VOCABULARY), -1e4)
    certain[0, 3] = 0
    assert normalised_entropy(certain).item() == pytest.approx(0)
    assert normalised_entropy(torch.zeros(1, VOCABULARY)).item() == pytest.approx(1, abs=1e-5)


def test_rank_auc() -> None:
    scores = torch.tensor([0.1, 0.9, 0.4, 0.8])
    assert rank_auc(scores, torch.tensor([False, True, False, True])) == 1
    assert rank_auc(scores, torch.tensor([True, False, True, False])) == 0
    assert rank_auc(scores, torch.tensor([False, True, True, False])) == 0.75
    assert math.isnan(rank_auc(scores, torch.tensor([False] * 4)))
    tied = torch.tensor([0.1, 0.5, 0.5, 0.9, 0.2])
    for swapped in (tied, tied[[0, 2, 1, 3, 4]]):
        assert rank_auc(swapped, torch.tensor([False, True, False, True, True])) == pytest.approx(4.5 / 6)


def test_only_the_exact_final_number_counts() -> None:
    tokenizer = load_tokenizer(SMALL)
    problem = problem_list(1, "numbers", 1)[0]

    def answer(text: str) -> Generation:
        tokens = tokenizer.encode(text).ids
        return Generation(tokens, [1.0] + [0.0] * (len(tokens) - 1))

    right = answer(f"The answer is {problem.answer}.")
    wrong = [answer(f"The answer is {problem.answer}0."), answer(f"It is {problem.answer}.")]
    assert is_right(tokenizer, right, problem)
    assert not any(is_right(tokenizer, generation, problem) for generation in wrong)
    score = summarise(tokenizer, [right, *wrong], [problem] * 3)
    assert score.exact == pytest.approx(1 / 3)
    assert score.by_kind == {problem.kind: (pytest.approx(1 / 3), 3)}


def test_saved_directory_loads_with_the_same_logits(tmp_path: Path) -> None:
    model = tiny(1)
    with torch.no_grad():
        for weight in model.parameters():
            weight.copy_(weight.bfloat16().float())
    save_model(model, tmp_path, SMALL)
    ids = torch.randint(0, VOCABULARY, (2, 30), generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        assert torch.allclose(load_model(tmp_path)(ids), model(ids), atol=1e-4)
