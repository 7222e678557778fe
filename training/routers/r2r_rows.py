"""R2R's training rows: states along answers, with the judge's word where the two models differ."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from training.routers.drafts import greedy_answers_from_drafts
from training.routers.generation import Answer
from training.routers.judges import Cases, Judge, Mismatch
from training.routers.pair import Pair
from training.routers.prompts import Question
from training.routers.rules.r2r import label
from training.routers.teacher import Forced, teacher_force

Trajectories = Callable[[list[list[int]]], list[Answer]]
"""From prompts to answers along which rows are taken."""


@dataclass
class Counts:
    """What a collection holds, for the card."""

    answers: int = 0
    unfinished: int = 0
    tokens: int = 0
    mismatches: int = 0
    divergent: int = 0
    dropped: int = 0


@dataclass
class Collector:
    """Turns questions into rows, a chunk at a time, so that memory stays bounded.

    on_policy: None = the large model's own greedy answers; else answers of a routed system, at whose every
    position the large model is asked as well. think_end: a token of the large model that is never divergent.
    """

    pair: Pair
    judge: Judge
    max_new_tokens: int
    on_policy: Trajectories | None = None
    think_end: int | None = None
    counts: Counts = field(default_factory=Counts)

    def rows(self, questions: Sequence[Question], first_group: int) -> dict[str, Tensor] | None:
        """Columns of all rows of these questions; None if no answer was finished.

        hidden [n, H] and top [n, k] in float16, sampled and large [n] (both models' tokens), label [n],
        group [n] (the question's number, so that a question is never on both sides of a split).
        """
        prompts = [self.pair.prompt_ids(question.text) for question in questions]
        answers = self._answers(questions, prompts)
        kept = [index for index, answer in enumerate(answers) if answer.finished]
        self.counts.answers += len(kept)
        self.counts.unfinished += len(answers) - len(kept)
        sequences = [[*prompts[index], *answers[index].tokens] for index in kept]
        lengths = [len(prompts[index]) for index in kept]
        wanted = self._large_tokens(sequences, lengths)
        collected = []
        mismatches: list[Mismatch] = []
        for forced in teacher_force(self.pair.small, sequences, lengths, self.pair.vocabulary):
            large = wanted[forced.index]
            mismatches += self._mismatches(lengths[forced.index], forced, large)
            collected.append((first_group + kept[forced.index], forced, large))
        cases = Cases([questions[index] for index in kept], lengths, sequences, mismatches)
        verdicts = iter(self.judge(self.pair, cases))
        self.counts.mismatches += len(mismatches)
        parts = [self._columns(group, forced, large, verdicts) for group, forced, large in collected]
        if not parts:
            return None
        return {name: torch.cat([part[name] for part in parts]) for name in parts[0]}

    def _answers(self, questions: Sequence[Question], prompts: list[list[int]]) -> list[Answer]:
        if self.on_policy is not None:
            return self.on_policy(prompts)
        pair = self.pair
        drafts = [pair.draft_ids(question.solution) for question in questions]
        return greedy_answers_from_drafts(
            pair.large, prompts, drafts, pair.end_ids, self.max_new_tokens, pair.vocabulary
        )

    def _large_tokens(self, sequences: list[list[int]], lengths: list[int]) -> list[list[int]]:
        """What the large model would write at every answer position."""
        if self.on_policy is None:
            return [sequence[start:] for sequence, start in zip(sequences, lengths, strict=True)]
        wanted: list[list[int]] = [[] for _ in sequences]
        for forced in teacher_force(self.pair.large, sequences, lengths, self.pair.vocabulary, top=1):
            wanted[forced.index] = forced.argmax.tolist()
        return wanted

    def _mismatches(self, start: int, forced: Forced, large: list[int]) -> list[Mismatch]:
        own = self.on_policy is None
        return [
            Mismatch(forced.index, start + at, small_token, large[at], own, self.max_new_tokens - at)
            for at, small_token in enumerate(forced.argmax.tolist())
            if self._differs(small_token, large[at])
        ]

    def _differs(self, small_token: int, large_token: int) -> bool:
        return small_token != large_token and large_token != self.think_end

    def _columns(
        self, group: int, forced: Forced, large: list[int], verdicts: Iterator[int]
    ) -> dict[str, Tensor]:
        small = forced.argmax.tolist()
        labels = [
            label(
                ours,
                theirs,
                next(verdicts) if self._differs(ours, theirs) else None,
                is_think_end=theirs == self.think_end,
            )
            for ours, theirs in zip(small, large, strict=True)
        ]
        kept = torch.tensor([at for at, value in enumerate(labels) if value is not None], dtype=torch.long)
        self.counts.tokens += len(kept)
        self.counts.dropped += len(labels) - len(kept)
        self.counts.divergent += sum(value == 1 for value in labels)
        chosen = torch.tensor([value for value in labels if value is not None], dtype=torch.int8)
        return {
            "hidden": forced.hidden.cpu()[kept].half(),
            "top": forced.top.cpu()[kept].half(),
            "sampled": forced.argmax.cpu()[kept].int(),
            "large": torch.tensor(large, dtype=torch.int32)[kept],
            "label": chosen,
            "group": torch.full((len(kept),), group, dtype=torch.int32),
        }
