"""Rows along gold chains for CITER and Co-LLM: what both models say at every token of a right answer."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from training.routers.answers import final_answer, is_right
from training.routers.drafts import greedy_answers_from_drafts
from training.routers.pair import Pair
from training.routers.prompts import Question
from training.routers.teacher import Forced, teacher_force

GOLD_LIMITS = (
    "The rows are states along right answers; at run time the router also sees states after mistakes."
)


@dataclass(frozen=True)
class Chain:
    """A question with the tokens that answer it, the end token included, and its final answer's text."""

    question: Question
    group: int
    prompt: list[int]
    gold: list[int]
    answer: str | None

    @property
    def sequence(self) -> list[int]:
        return [*self.prompt, *self.gold]


@dataclass(frozen=True)
class ChainRows:
    """Both models along one chain; row t of each predicts gold token t."""

    chain: Chain
    small: Forced
    large: Forced

    def columns(self) -> dict[str, Tensor]:
        """hidden [n, H] in float16; sampled, large, gold [n]: tokens; log_p_small, log_p_large [n]: of the gold token;
        group [n]: the question's number, so that a question is never on both sides of a split.
        """
        count = len(self.chain.gold)
        return {
            "hidden": self.small.hidden.cpu().half(),
            "sampled": self.small.argmax.cpu().int(),
            "large": self.large.argmax.cpu().int(),
            "gold": torch.tensor(self.chain.gold, dtype=torch.int32),
            "log_p_small": self.small.log_probability.cpu().float(),
            "log_p_large": self.large.log_probability.cpu().float(),
            "group": torch.full((count,), self.chain.group, dtype=torch.int32),
        }


def add_gold_option(parser: argparse.ArgumentParser) -> None:
    """--gold, which `gold_chains` reads."""
    parser.add_argument(
        "--gold",
        choices=["solution", "large"],
        default="solution",
        help="solution: the problems' \"solution\"; large: the large model's own finished answers, "
        'without those that are wrong where the problems have an "answer" (default: solution)',
    )


def gold_chains(
    pair: Pair,
    questions: Sequence[Question],
    first_group: int,
    gold: str,
    max_new_tokens: int,
    algorithm: str,
) -> list[Chain]:
    """The chains of all questions that have one. Raises ValueError naming a problem without a solution."""
    prompts = [pair.prompt_ids(question.text) for question in questions]
    if gold == "solution":
        texts = [question.required("solution", algorithm) for question in questions]
        answers = [[*pair.answer_ids(text), _end_id(pair)] for text in texts]
    else:
        answers = _answers_of_large(pair, questions, prompts, max_new_tokens)
    chains = []
    longest = min(pair.small.max_positions, pair.large.max_positions)
    for index, (question, prompt, tokens) in enumerate(zip(questions, prompts, answers, strict=True)):
        if tokens is None or len(tokens) > max_new_tokens or len(prompt) + len(tokens) > longest:
            continue
        # A problem's answer may be a text with a final answer in it, as in GSM8K.
        text = question.answer or pair.text(tokens)
        answer = final_answer(text) or question.answer
        chains.append(Chain(question, first_group + index, prompt, tokens, answer))
    return chains


def _end_id(pair: Pair) -> int:
    own = pair.tokenizer.eos_token_id
    return own if own in pair.end_ids else min(pair.end_ids)


def _answers_of_large(
    pair: Pair, questions: Sequence[Question], prompts: list[list[int]], max_new_tokens: int
) -> list[list[int] | None]:
    """Finished answers; None for others, and for those that are known to be wrong."""
    drafts = solution_drafts(pair, questions)
    answers = greedy_answers_from_drafts(
        pair.large, prompts, drafts, pair.end_ids, max_new_tokens, pair.vocabulary
    )
    return [
        answer.tokens
        if answer.finished
        and (question.answer is None or is_right(pair.text(answer.tokens), question.answer))
        else None
        for question, answer in zip(questions, answers, strict=True)
    ]


def solution_drafts(pair: Pair, questions: Sequence[Question]) -> list[list[int] | None]:
    """Guesses at the answers: the solutions, where the problems have them."""
    end = _end_id(pair)
    return [None if q.solution is None else [*pair.answer_ids(q.solution), end] for q in questions]


def chain_rows(pair: Pair, chains: Sequence[Chain]) -> Iterator[ChainRows]:
    """Both models' pass over every chain."""
    sequences = [chain.sequence for chain in chains]
    lengths = [len(chain.prompt) for chain in chains]
    large = {
        forced.index: _without_states(forced)
        for forced in teacher_force(pair.large, sequences, lengths, pair.vocabulary, top=1)
    }
    for small in teacher_force(pair.small, sequences, lengths, pair.vocabulary, top=1):
        yield ChainRows(chains[small.index], small, large.pop(small.index))


def _without_states(forced: Forced) -> Forced:
    """The large model's states are of no use, and many."""
    return replace(forced, hidden=forced.hidden.new_empty(0), top=forced.top.new_empty(0))
