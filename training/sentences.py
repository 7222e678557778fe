"""All sentence slots, and the check that no held-out sentence can occur in training."""

from __future__ import annotations

import re

from training.sentences_other import OTHER_SLOTS
from training.sentences_story import STORY_SLOTS
from training.sentences_unit import UNITS
from training.slot import Slot, expand
from training.words import OPENERS

SLOTS: dict[str, Slot] = {**STORY_SLOTS, **OTHER_SLOTS}

_PERSON = re.compile(r"\{[ABWLS]\}")


def _comparable(sentence: str) -> str:
    """One form for sentences that differ only in whose name they hold or in spacing."""
    return " ".join(_PERSON.sub("{A}", sentence).split()).casefold()


def _all_slots() -> list[tuple[str, Slot]]:
    named_units = [(f"unit:{unit.large}", unit.slot) for unit in UNITS]
    return [*SLOTS.items(), *named_units]


def training_sentences(slot: Slot) -> set[str]:
    """Every sentence of the slot that training can show, openers included, in comparable form."""
    plain = set(slot.base)
    for pattern in slot.extra:
        plain.update(expand(pattern))
    opened = {f"{opener} {text}" for text in plain if text.startswith("{") for opener in OPENERS}
    return {_comparable(text) for text in plain | opened}


def check_held_out() -> None:
    """Raise ValueError if any held-out sentence can be produced for training, in any slot."""
    held_out = {_comparable(text) for _, slot in _all_slots() for text in slot.held_out}
    for name, slot in _all_slots():
        leaked = training_sentences(slot) & held_out
        if leaked:
            raise ValueError(f"held-out sentence in training, slot {name}: {sorted(leaked)}")
