"""The problems that routers are trained and calibrated on."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from training.generator import problem_list
from training.problem import Problem
from training.problem_files import problems_to_choose_by

EMBEDDED = "embedded"


@dataclass(frozen=True)
class Question:
    """A question with what is known about its answer. where: for messages, such as `file.jsonl:12`."""

    text: str
    answer: str | None
    solution: str | None
    where: str

    def required(self, field: str, algorithm: str) -> str:
        """`answer` or `solution`; raises ValueError naming the line if it is missing."""
        value = {"answer": self.answer, "solution": self.solution}[field]
        if value is None:
            instead = " (or --gold large)" if field == "solution" else ""
            raise ValueError(f'{self.where}: "{field}" is missing, {algorithm} needs it{instead}')
        return value


def training_questions(source: str) -> list[Question]:
    """`FILE.jsonl`, or `embedded:COUNT:SEED`: problems of the generator's training split."""
    drawn = _embedded(source)
    if drawn is None:
        return read_questions(Path(source))
    count, seed = drawn
    return [_question(problem, source) for problem in problem_list(count, "train", seed)]


def validation_questions(source: str) -> list[Question]:
    """`FILE.jsonl`, or `embedded:COUNT:SEED`: unseen numbers and names, none of a shipped test list."""
    drawn = _embedded(source)
    if drawn is None:
        return read_questions(Path(source))
    count, seed = drawn
    return [_question(problem, source) for problem in problems_to_choose_by(count, "numbers", seed)]


def _question(problem: Problem, source: str) -> Question:
    return Question(problem.question, str(problem.answer), problem.answer_text, source)


def _embedded(source: str) -> tuple[int, int] | None:
    name, _, rest = source.partition(":")
    if name != EMBEDDED:
        return None
    numbers = rest.split(":")
    if len(numbers) != 2 or not all(number.isdecimal() for number in numbers) or int(numbers[0]) == 0:
        raise ValueError(f'"{source}": expected {EMBEDDED}:COUNT:SEED, such as {EMBEDDED}:2000:1')
    return int(numbers[0]), int(numbers[1])


def read_questions(path: Path) -> list[Question]:
    """One JSON object per line: `question`, optional `answer` (text or number) and `solution`.

    Raises ValueError naming the line and the field.
    """
    try:
        with path.open(encoding="utf-8") as file:
            questions = list(_parsed(path, file))
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: not UTF-8 ({error})") from error
    if not questions:
        raise ValueError(f"{path}: no problems")
    return questions


def _parsed(path: Path, lines: Iterable[str]) -> Iterable[Question]:
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        where = f"{path}:{number}"
        try:
            row = json.loads(line)
        except json.JSONDecodeError as error:
            raise ValueError(f"{where}: not JSON ({error.msg})") from error
        if not isinstance(row, dict):
            raise ValueError(f"{where}: expected an object")
        question = _text(row, "question", where)
        if not question:
            raise ValueError(f'{where}: "question" is missing or empty')
        yield Question(question, _text(row, "answer", where), _text(row, "solution", where), where)


def _text(row: dict[str, Any], field: str, where: str) -> str | None:
    value = row.get(field)
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool) and field == "answer":
        return str(value)
    raise ValueError(f'{where}: "{field}" must be a text, found {type(value).__name__}')
