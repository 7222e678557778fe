"""A chat model as R2R's judge: does the sentence with the small model's token mean something else?"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from transformers import AutoTokenizer

from training.routers.causal_model import CausalModel
from training.routers.continuation import Cut, greedy_continuations
from training.routers.generation import greedy_answers
from training.routers.judges import Cases, Mismatch
from training.routers.pair import Pair
from training.routers.rules.r2r import UNPARSABLE

_VERDICT_TOKENS = 16
_SENTENCE_TOKENS = 128
_CONTEXT_CHARACTERS = 2_000
_SENTENCE_ENDS = re.compile(r"\n|[.!?。！？]\s*$")
_VERDICT = re.compile(r"\b([01])\b")

_INSTRUCTION = """Two versions of an answer share their beginning and differ from the token in << >> on.
Question: {question}
Shared beginning: {context}
Version A goes on: {large}
Version B goes on: {small}
Does B change the meaning, the reasoning or the outcome compared with A? Reply with 1 for yes, with 0 for a \
difference of wording only. Reply with the digit alone."""


def sentence_end_ids(pair: Pair) -> frozenset[int]:
    """Tokens that end a sentence: those with a line break, those that end in a full stop or the like, end tokens."""
    texts = ((index, pair.tokenizer.decode([index])) for index in range(pair.vocabulary))
    return pair.end_ids | {index for index, text in texts if _SENTENCE_ENDS.search(text)}


def verdict_of(reply: str) -> int:
    """1 or 0, whichever digit stands alone first; -1 if none does."""
    match = _VERDICT.search(reply)
    return UNPARSABLE if match is None else int(match.group(1))


class ModelJudge:
    """Asks a chat model, greedily, about both versions up to the end of the sentence.

    model: a checkpoint with a chat template; None = the pair's large model.
    """

    def __init__(self, pair: Pair, model: Path | None, device: str) -> None:
        """Raises ValueError if the judge has no chat template."""
        self._model = pair.large if model is None else CausalModel(model, device)
        self._tokenizer: Any = pair.tokenizer if model is None else AutoTokenizer.from_pretrained(model)
        if self._tokenizer.chat_template is None:
            raise ValueError(f"{model or pair.large.directory}: a judge needs a chat template")
        self._ends = sentence_end_ids(pair)

    def __call__(self, pair: Pair, cases: Cases) -> list[int]:
        """One verdict per mismatch."""
        mismatches = cases.mismatches
        small = self._sentences(pair, cases, [case.small_token for case in mismatches])
        large = self._sentences(pair, cases, [case.large_token for case in mismatches])
        prompts = [
            self._prompt(pair, cases, case, ours, theirs)
            for case, ours, theirs in zip(mismatches, small, large, strict=True)
        ]
        ends = self._model.end_ids | {self._tokenizer.eos_token_id}
        replies = greedy_answers(self._model, prompts, frozenset(ends), _VERDICT_TOKENS, len(self._tokenizer))
        return [
            verdict_of(self._tokenizer.decode(reply.tokens, skip_special_tokens=True)) for reply in replies
        ]

    def _sentences(self, pair: Pair, cases: Cases, tokens: Sequence[int]) -> list[list[int]]:
        """The large model's sentence from each token on, the token first."""
        cuts = [
            Cut(case.sequence, case.length, token, min(case.room, _SENTENCE_TOKENS))
            for case, token in zip(cases.mismatches, tokens, strict=True)
        ]
        found = greedy_continuations(pair.large, cases.sequences, cuts, self._ends, pair.vocabulary)
        return [answer.tokens for answer in found]

    def _prompt(
        self, pair: Pair, cases: Cases, case: Mismatch, small: list[int], large: list[int]
    ) -> list[int]:
        start = cases.prompt_lengths[case.sequence]
        context = pair.text(cases.sequences[case.sequence][start : case.length])
        content = _INSTRUCTION.format(
            question=cases.questions[case.sequence].text,
            context=context[-_CONTEXT_CHARACTERS:],
            large=_marked(pair, large),
            small=_marked(pair, small),
        )
        text = self._tokenizer.apply_chat_template(
            [{"role": "user", "content": content}], add_generation_prompt=True, tokenize=False
        )
        return list(self._tokenizer.encode(text, add_special_tokens=False))


def _marked(pair: Pair, tokens: list[int]) -> str:
    return f"<<{pair.tokenizer.decode(tokens[:1])}>>{pair.text(tokens[1:])}"
