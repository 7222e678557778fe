"""Units and the sentences of the conversion problems. Fields: {A} person, {h} large, {m} small units."""

from __future__ import annotations

from dataclasses import dataclass

from training.slot import Slot


@dataclass(frozen=True)
class Unit:
    """A large unit that holds `factor` small ones; `small` is written in the plural."""

    large: str
    small: str
    factor: int
    slot: Slot


UNITS: tuple[Unit, ...] = (
    Unit(
        "hour",
        "minutes",
        60,
        Slot(
            base=(
                "A trip takes {h} hours and {m} minutes. How many minutes is that?",
                "{A} reads for {h} hours and {m} minutes. How many minutes is that in all?",
            ),
            extra=(
                "{A} [works|sleeps|plays|waits|walks] [for |]{h} hours and {m} minutes. "
                "[How many minutes is that?|What is that in minutes?|How many minutes are that?]",
                "A [game|drive|flight|class|show] [takes|lasts] {h} hours and {m} minutes. "
                "[How many minutes is that in all?|How many minutes does it take?]",
            ),
            held_out=("A film lasts {h} hours and {m} minutes. How many minutes is that?",),
        ),
    ),
    Unit(
        "minute",
        "seconds",
        60,
        Slot(
            base=(
                "A song lasts {h} minutes and {m} seconds. How many seconds is that?",
                "{A} runs for {h} minutes and {m} seconds. How many seconds is that in all?",
            ),
            extra=(
                "{A} [swims|waits|sings|walks|talks] [for |]{h} minutes and {m} seconds. "
                "[How many seconds is that?|What is that in seconds?]",
                "A [race|dance|call|clip|break] [takes|lasts] {h} minutes and {m} seconds. "
                "[How many seconds is that in all?|How many seconds is that?]",
            ),
            held_out=("A ride takes {h} minutes and {m} seconds. How many seconds is that?",),
        ),
    ),
    Unit(
        "dozen",
        "eggs",
        12,
        Slot(
            base=(
                "{A} has {h} dozen eggs and {m} single eggs. How many eggs is that?",
                "A shop sells {h} dozen eggs and {m} more. How many eggs is that in all?",
            ),
            extra=(
                "{A} [uses|sells|finds|needs|gets] {h} dozen eggs and {m} [more|other eggs|eggs]. "
                "How many eggs [is that|is that in all|are that]?",
                "[There are|A farm has|A cook needs] {h} dozen eggs and {m} [single eggs|more]. "
                "How many eggs is that[| in all]?",
            ),
            held_out=("{A} buys {h} dozen eggs and {m} more eggs. How many eggs is that?",),
        ),
    ),
    Unit(
        "foot",
        "inches",
        12,
        Slot(
            base=("A rope is {h} feet and {m} inches long. How many inches is that?",),
            extra=(
                "A [shelf|table|bed|plank|wall] is {h} feet and {m} inches [long|wide|high]. "
                "[How many inches is that?|What is that in inches?]",
                "{A} [cuts|needs|uses|buys] [a rope|a string|a board] of {h} feet and {m} inches. "
                "How many inches is that[| in all]?",
            ),
            held_out=("{A} has a ribbon of {h} feet and {m} inches. How many inches is that?",),
        ),
    ),
    Unit(
        "meter",
        "centimeters",
        100,
        Slot(
            base=("A board is {h} meters and {m} centimeters long. How many centimeters is that?",),
            extra=(
                "A [shelf|table|boat|plank|wall] is {h} meters and {m} centimeters [long|wide|high]. "
                "[How many centimeters is that?|What is that in centimeters?]",
                "{A} [cuts|needs|uses|buys] [a string|a cable] of {h} meters and {m} centimeters. "
                "How many centimeters is that[| in all]?",
            ),
            held_out=("A rope is {h} meters and {m} centimeters long. How many centimeters is that?",),
        ),
    ),
    Unit(
        "week",
        "days",
        7,
        Slot(
            base=(
                "A trip takes {h} weeks and {m} days. How many days is that?",
                "{A} waits {h} weeks and {m} days. How many days is that in all?",
            ),
            extra=(
                "{A} [works|travels|rests|stays away] [for |]{h} weeks and {m} days. "
                "[How many days is that?|What is that in days?]",
                "A [course|visit|holiday|project] [takes|lasts] {h} weeks and {m} days. "
                "How many days is that[| in all]?",
            ),
            held_out=("A job lasts {h} weeks and {m} days. How many days is that?",),
        ),
    ),
)
