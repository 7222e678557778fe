"""The problem record, the three splits, and the writer that fills sentences while a problem grows."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Literal

from training.sentences import SLOTS
from training.slot import Slot, pick
from training.words import (
    CONTAINERS,
    GOODS,
    HELD_OUT_NAMES,
    HELD_OUT_OBJECTS,
    OBJECTS,
    OPENERS,
    invented_object,
    train_name,
)

Split = Literal["train", "numbers", "sentences"]
"""train; numbers = unseen numbers and names in known sentences; sentences = unseen sentences too."""

SPLITS: tuple[Split, ...] = ("train", "numbers", "sentences")

_EXTRA_SHARE = 0.55
_OPENER_SHARE = 0.2
_INVENTED_OBJECT_SHARE = 0.12
_HELD_OUT_OBJECT_SHARE = 0.3


@dataclass(frozen=True)
class Problem:
    """One word problem with its reference reasoning.

    numbers holds the drawn integers in the order the problem was built; together with the kind it
    decides whether the problem is held out.
    """

    kind: str
    question: str
    answer_text: str
    answer: int
    numbers: tuple[int, ...]


class Writer:
    """Draws names, objects and numbers and collects the sentences of one problem."""

    def __init__(self, rng: random.Random, split: Split) -> None:
        self.rng = rng
        self.split = split
        self.numbers: list[int] = []
        self.sentences: list[str] = []
        self.steps: list[str] = []
        self.fields: dict[str, str] = {}
        self._draw_fields()

    def _name(self) -> str:
        return train_name(self.rng) if self.split == "train" else self.rng.choice(HELD_OUT_NAMES)

    def _draw_fields(self) -> None:
        rng = self.rng
        first, second = self._name(), self._name()
        while second == first:
            second = self._name()
        objects = rng.choice(OBJECTS)
        if self.split == "train" and rng.random() < _INVENTED_OBJECT_SHARE:
            objects = invented_object(rng)
        if self.split == "sentences" and rng.random() < _HELD_OUT_OBJECT_SHARE:
            objects = rng.choice(HELD_OUT_OBJECTS)
        pronoun = rng.choice(("She", "He"))
        self.fields.update(
            A=first,
            B=second,
            o=objects,
            p=rng.choice(CONTAINERS),
            i=rng.choice(GOODS),
            S=pronoun,
            s=pronoun.lower(),
        )

    def new_container(self) -> str:
        """Draws the container for the next sentence and returns it."""
        self.fields["p"] = self.rng.choice(CONTAINERS)
        return self.fields["p"]

    def _variant(self, slot: Slot) -> str:
        if self.split == "sentences":
            return self.rng.choice(slot.held_out)
        if self.split == "train" and slot.extra and self.rng.random() < _EXTRA_SHARE:
            return pick(self.rng.choice(slot.extra), self.rng)
        return self.rng.choice(slot.base)

    def sentence(
        self,
        slot: str | Slot,
        *,
        opener: bool = True,
        people: dict[str, str] | None = None,
        **numbers: int,
    ) -> str:
        """One filled sentence of the slot; records the given numbers.

        opener: whether training may put an opener such as "On Monday" in front.
        people: names for fields that differ from the problem's own, such as W and L.
        """
        text = self._variant(SLOTS[slot] if isinstance(slot, str) else slot)
        self.numbers.extend(numbers.values())
        named = text.startswith(("{A}", "{B}"))
        if opener and named and self.split == "train" and self.rng.random() < _OPENER_SHARE:
            text = f"{self.rng.choice(OPENERS)} {text}"
        return text.format(**{**self.fields, **(people or {})}, **numbers)

    def tell(self, slot: str | Slot, people: dict[str, str] | None = None, **numbers: int) -> None:
        """Appends a sentence of the slot to the question."""
        self.sentences.append(self.sentence(slot, people=people, **numbers))

    def reason(self, step: str) -> None:
        """Appends one line of reasoning."""
        self.steps.append(step)

    def restart(self) -> None:
        """Forgets the sentences, steps and numbers so far; names and objects stay."""
        self.sentences.clear()
        self.steps.clear()
        self.numbers.clear()

    def between(self, low: int, high: int) -> int:
        """An integer from low to high, both included."""
        return self.rng.randint(low, high)

    def start_number(self) -> int:
        """How many there are at first: 12–99, or 100–399 in a quarter of the cases."""
        return self.between(100, 399) if self.rng.random() < 0.25 else self.between(12, 99)

    def amount(self) -> int:
        """How many come or go: 11–99, or 2–9 in 15 % of the cases."""
        return self.between(2, 9) if self.rng.random() < 0.15 else self.between(11, 99)

    def containers(self) -> tuple[int, int]:
        """Number of containers (2–9) and objects in each (11–59, or 3–9 in a fifth of the cases)."""
        count = self.between(2, 9)
        return count, self.between(3, 9) if self.rng.random() < 0.2 else self.between(11, 59)
