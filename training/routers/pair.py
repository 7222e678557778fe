"""A small and a large model with one tokenizer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from transformers import AutoTokenizer

from training.routers.attention import GROUPED_ATTENTION
from training.routers.causal_model import CausalModel


@dataclass(frozen=True)
class Pair:
    """Both models of a router. Only ids below `vocabulary` are ever chosen."""

    small: CausalModel
    large: CausalModel
    tokenizer: Any
    vocabulary: int
    end_ids: frozenset[int]

    def prompt_ids(self, question: str) -> list[int]:
        """The question as the chat template renders it, ready for the answer; plain text without a template."""
        if self.tokenizer.chat_template is None:
            return list(self.tokenizer.encode(question))
        messages = [{"role": "user", "content": question}]
        text = self.tokenizer.apply_chat_template(messages, add_generation_prompt=True, tokenize=False)
        return self.answer_ids(text)

    def answer_ids(self, text: str) -> list[int]:
        """Ids of a text alone, without any token that the tokenizer would put around it."""
        return list(self.tokenizer.encode(text, add_special_tokens=False))

    def draft_ids(self, solution: str | None) -> list[int] | None:
        """A reference solution as the answer that a model might write, with the end token."""
        if solution is None:
            return None
        end = self.tokenizer.eos_token_id
        return self.answer_ids(solution) + ([] if end is None else [end])

    def text(self, ids: Sequence[int]) -> str:
        """Ids as text, without special tokens."""
        return self.tokenizer.decode(list(ids), skip_special_tokens=True)


def load_pair(small: Path, large: Path, device: str = "cpu", attention: str = GROUPED_ATTENTION) -> Pair:
    """Both checkpoints; raises ValueError naming the first id on which the tokenizers differ."""
    tokenizer = AutoTokenizer.from_pretrained(small)
    check_same_tokens(small, tokenizer.get_vocab(), large, AutoTokenizer.from_pretrained(large).get_vocab())
    models = [CausalModel(directory, device, attention) for directory in (small, large)]
    vocabulary = min(len(tokenizer), *(model.vocabulary for model in models))
    end_ids = frozenset().union(*(model.end_ids for model in models))
    if tokenizer.eos_token_id is not None:
        end_ids |= {tokenizer.eos_token_id}
    if not end_ids:
        raise ValueError(f"{small}: neither its generation config nor its tokenizer names an end token")
    return Pair(models[0], models[1], tokenizer, vocabulary, end_ids)


def check_same_tokens(small: Path, ours: dict[str, int], large: Path, theirs: dict[str, int]) -> None:
    """Raises ValueError naming the lowest id that stands for different tokens."""
    if ours == theirs:
        return
    by_id = [{index: token for token, index in vocabulary.items()} for vocabulary in (ours, theirs)]
    for index in sorted(by_id[0].keys() | by_id[1].keys()):
        first, second = by_id[0].get(index), by_id[1].get(index)
        if first != second:
            raise ValueError(f"tokenizers differ at id {index}: {first!r} in {small}, {second!r} in {large}")
