"""The generator's promises: right answers, splits that stay apart, lists that come out the same."""

from __future__ import annotations

import random
import re
from collections import Counter

import pytest
from training import evaluate
from training.generator import TEST_WEIGHTS, draw, is_held_out, problem_list
from training.kinds import KINDS
from training.problem import SPLITS, Problem, Split
from training.problem_files import held_out_lists
from training.sentences import SLOTS, check_held_out
from training.sentences_unit import UNITS
from training.slot import Slot, expand
from training.words import HELD_OUT_NAMES, HELD_OUT_OBJECTS, train_name

SUM = re.compile(r"(\d+)([+*-])(\d+)(?:-(\d+)|\+(\d+))?=(\d+)")


def problems_of(split: Split, count: int = 1500) -> list[Problem]:
    return problem_list(count, split, seed=11)


def value(match: re.Match[str]) -> int:
    """The sum of a match, computed without the module under test."""
    left, sign, right, minus, plus, _ = match.groups()
    result = {"+": int(left) + int(right), "-": int(left) - int(right), "*": int(left) * int(right)}[sign]
    return result - int(minus or 0) + int(plus or 0)


@pytest.mark.parametrize("split", SPLITS)
def test_every_written_sum_is_right(split: Split) -> None:
    for problem in problems_of(split):
        sums = list(SUM.finditer(problem.answer_text))
        assert sums, problem.answer_text
        for match in sums:
            assert value(match) == int(match.group(6)), problem.answer_text


@pytest.mark.parametrize("split", SPLITS)
def test_answer_is_the_last_full_sum_and_is_written_out(split: Split) -> None:
    for problem in problems_of(split):
        full = [int(m.group(1)) for m in re.finditer(r"(?:So |^| )\d+[+*-]\d+=(\d+)\.", problem.answer_text)]
        assert full[-1] == problem.answer, problem.answer_text
        assert problem.answer_text.endswith(f"\nThe answer is {problem.answer}.")
        assert 0 <= problem.answer <= 999


def story_answer(numbers: tuple[int, ...], lines: list[str]) -> int:
    """Follows a story by its numbers; only which event happened is read from the reasoning."""
    rest = list(numbers)
    current = rest.pop(0)
    for line in lines:
        if line.startswith("Add the new"):
            current += rest.pop(0)
        elif line.startswith("Take away the"):
            current -= rest.pop(0)
        elif " times as many:" in line:
            current *= rest.pop(0)
        elif line.startswith("Add them"):
            current += rest.pop(0) * rest.pop(0)
        elif line.startswith("Take them away"):
            current -= rest.pop(0) * rest.pop(0)
    assert rest == []
    return current


@pytest.mark.parametrize("split", SPLITS)
def test_story_answers_follow_from_the_numbers(split: Split) -> None:
    stories = [p for p in problems_of(split) if p.kind.startswith("story")]
    assert len(stories) > 300
    for problem in stories:
        assert story_answer(problem.numbers, problem.answer_text.split("\n")) == problem.answer


def test_question_names_every_number() -> None:
    for problem in problems_of("train"):
        written = Counter(int(n) for n in re.findall(r"\d+", problem.question))
        assert written == Counter(problem.numbers), problem.question


def test_training_and_held_out_numbers_are_disjoint() -> None:
    train = {(p.kind, p.numbers) for p in problems_of("train", 3000)}
    for split in ("numbers", "sentences"):
        held_out = {(p.kind, p.numbers) for p in problems_of(split)}
        assert not train & held_out
        assert all(is_held_out(*key) for key in held_out)
    assert not any(is_held_out(*key) for key in train)


def test_no_held_out_sentence_can_be_trained_on() -> None:
    check_held_out()


def test_the_held_out_check_finds_a_leak(monkeypatch: pytest.MonkeyPatch) -> None:
    slot = SLOTS["gain"]
    leaking = Slot(slot.base, (*slot.extra, "Later {B} [finds|gets] another {b} {o}."), slot.held_out)
    monkeypatch.setitem(SLOTS, "gain", leaking)
    with pytest.raises(ValueError, match="slot gain"):
        check_held_out()


def test_sentences_split_uses_held_out_sentences_only() -> None:
    slots = [*SLOTS.values(), *(unit.slot for unit in UNITS)]
    held_out = [text for slot in slots for text in slot.held_out]
    pattern = "|".join(re.escape(re.sub(r"\{\w\}", "\0", text)).replace("\0", r"\w+") for text in held_out)
    whole = re.compile(rf"(?:(?:{pattern}) ?)+")
    for problem in problems_of("sentences"):
        assert whole.fullmatch(problem.question), problem.question


def test_training_never_shows_held_out_names_or_objects() -> None:
    rng = random.Random(4)
    assert not {train_name(rng) for _ in range(50_000)} & set(HELD_OUT_NAMES)
    words = {w.lower() for p in problems_of("train", 3000) for w in re.findall(r"\w+", p.question)}
    assert not words & set(HELD_OUT_OBJECTS)


def test_same_seed_same_list_and_other_seed_another() -> None:
    assert problem_list(50, "train", 1) == problem_list(50, "train", 1)
    assert problem_list(50, "train", 1) != problem_list(50, "train", 2)


def test_excluded_problems_do_not_come_back() -> None:
    first = problem_list(100, "numbers", 1)
    again = problem_list(100, "numbers", 1, exclude=first)
    assert not {(p.kind, p.numbers) for p in first} & {(p.kind, p.numbers) for p in again}


def test_shipped_lists_do_not_overlap() -> None:
    lists = held_out_lists()
    keys = [{(p.kind, p.numbers) for p in problems} for problems in lists.values()]
    assert sum(map(len, keys)) == len(set().union(*keys)) == 1000


@pytest.mark.parametrize("split", ["numbers", "sentences"])
def test_problems_drawn_to_choose_by_have_no_numbers_of_a_test_problem(split: Split) -> None:
    lists = held_out_lists()
    tested = {(p.kind, p.numbers) for p in [*lists["test"], *lists["test-sentences"]]}
    drawn = evaluate.problems_of(split, 11, 200)
    assert len(drawn) == 200
    assert not tested & {(p.kind, p.numbers) for p in drawn}


def test_every_kind_occurs_about_as_often_as_its_weight() -> None:
    rng = random.Random(2)
    counts = Counter(draw(rng, "numbers").kind for _ in range(4000))
    assert set(counts) == set(KINDS) == set(TEST_WEIGHTS)
    for kind in ("groups", "compare", "story1"):
        assert counts[kind] / 4000 == pytest.approx(TEST_WEIGHTS[kind], abs=0.05)


def test_every_pattern_is_well_formed() -> None:
    for slot in [*SLOTS.values(), *(unit.slot for unit in UNITS)]:
        assert slot.held_out and slot.base
        for pattern in slot.extra:
            for text in expand(pattern):
                assert not re.search(r"[\[\]|]|  | [.,?]", text), text
