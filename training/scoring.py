"""Measures of one or two models on a problem list: exact answers, perplexity, divergence, routing."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from tokenizers import Tokenizer
from torch import Tensor

from training.decode import Chooser, Generation, generate
from training.model import LanguageModel
from training.problem import Problem
from training.tokenizer import encode_answers, encode_prompts

_ANSWER = re.compile(r"The answer is (\d+)\.")


@dataclass(frozen=True)
class Score:
    """Outcome of one decoding pass over a problem list.

    exact: share of answers whose final number is right. by_kind: (exact, problems) per kind.
    tokens: mean answer length. large_share: tokens the large model decided, in [0, 1].
    """

    exact: float
    by_kind: dict[str, tuple[float, int]]
    tokens: float
    large_share: float


def is_right(tokenizer: Tokenizer, generation: Generation, problem: Problem) -> bool:
    """Whether the first `The answer is N.` names the exact answer."""
    match = _ANSWER.search(tokenizer.decode(generation.tokens))
    return match is not None and int(match.group(1)) == problem.answer


def summarise(tokenizer: Tokenizer, generations: Sequence[Generation], problems: Sequence[Problem]) -> Score:
    """Scores a pass whose notes are 1 where the large model decided."""
    right_by_kind: dict[str, list[bool]] = defaultdict(list)
    for generation, problem in zip(generations, problems, strict=True):
        right_by_kind[problem.kind].append(is_right(tokenizer, generation, problem))
    lengths = [len(generation.tokens) for generation in generations]
    decided = sum(float(note) for generation in generations for note in generation.notes)
    return Score(
        exact=sum(map(sum, right_by_kind.values())) / len(problems),
        by_kind={k: (sum(r) / len(r), len(r)) for k, r in sorted(right_by_kind.items())},
        tokens=sum(lengths) / len(lengths),
        large_share=decided / sum(lengths),
    )


def normalised_entropy(logits: Tensor) -> Tensor:
    """Entropy of softmax(logits) over its largest possible value, ln(vocabulary); in [0, 1]."""
    log_probabilities = logits.log_softmax(-1)
    entropy = -(log_probabilities.exp() * log_probabilities).sum(-1)
    return entropy / math.log(logits.shape[-1])


def _mixed(logits: list[Tensor], large: Tensor) -> tuple[Tensor, Tensor]:
    tokens = torch.where(large, logits[1].argmax(-1), logits[0].argmax(-1))
    return tokens, large.float()


def entropy_rule(threshold: float) -> Chooser:
    """R-Stitch's signal, a token at a time: the large model decides above the threshold."""
    return lambda logits: _mixed(logits, normalised_entropy(logits[0]) > threshold)


def random_rule(share: float, seed: int) -> Chooser:
    """The large model decides with probability `share`, whatever the logits say."""
    generator = torch.Generator().manual_seed(seed)
    return lambda logits: _mixed(logits, torch.rand(len(logits[0]), generator=generator) < share)


def decode_and_score(
    models: Sequence[LanguageModel],
    tokenizer: Tokenizer,
    problems: Sequence[Problem],
    choose: Chooser | None = None,
) -> Score:
    """One pass: a single model greedily, or small and large under a rule."""
    prompts = encode_prompts(tokenizer, [problem.question for problem in problems])
    generations = generate(models, prompts, choose) if choose else generate(models, prompts)
    return summarise(tokenizer, generations, problems)


@torch.no_grad()
def perplexity(model: LanguageModel, tokenizer: Tokenizer, problems: Sequence[Problem]) -> float:
    """Perplexity of the reference answers, the end token included, the prompt not."""
    prompts = encode_prompts(tokenizer, [problem.question for problem in problems])
    answers = encode_answers(tokenizer, [problem.answer_text for problem in problems])
    total = count = 0.0
    for prompt, answer in zip(prompts, answers, strict=True):
        log_probabilities = model(torch.tensor([prompt + answer]))[0].log_softmax(-1)
        predicted = log_probabilities[len(prompt) - 1 : -1]
        total -= predicted.gather(1, torch.tensor(answer)[:, None]).sum().item()
        count += len(answer)
    return math.exp(total / count)


@dataclass(frozen=True)
class Divergence:
    """Where the small model's argmax leaves the large model's trajectory.

    tokens: share of tokens. answers: share of answers with at least one. auc: how well the small
    model's entropy ranks those tokens above the others (area under the ROC curve).
    """

    tokens: float
    answers: float
    auc: float


def rank_auc(scores: Tensor, positive: Tensor) -> float:
    """Probability that a positive's score exceeds a negative's, ties half; NaN without both. positive: [rows], bool."""
    above, below = scores[positive], scores[~positive].sort().values
    if not len(above) or not len(below):
        return math.nan
    lower = torch.searchsorted(below, above, side="left")
    not_higher = torch.searchsorted(below, above, side="right")
    return ((lower + not_higher).double().mean() / (2 * len(below))).item()


def divergence(
    small: LanguageModel,
    large: LanguageModel,
    tokenizer: Tokenizer,
    problems: Sequence[Problem],
) -> Divergence:
    """Compares the two along the large model's greedy answers."""

    def follow_large(logits: list[Tensor]) -> tuple[Tensor, Tensor]:
        tokens = logits[1].argmax(-1)
        differs = (logits[0].argmax(-1) != tokens).float()
        return tokens, torch.stack([differs, normalised_entropy(logits[0])], 1)

    prompts = encode_prompts(tokenizer, [problem.question for problem in problems])
    generations = generate([small, large], prompts, follow_large)
    notes = [torch.tensor(generation.notes) for generation in generations]
    together = torch.cat(notes)
    differs = together[:, 0] > 0
    return Divergence(
        tokens=differs.float().mean().item(),
        answers=sum(bool(note[:, 0].any()) for note in notes) / len(notes),
        auc=rank_auc(together[:, 1], differs),
    )
