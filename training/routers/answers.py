"""The final answer of a text, and whether two of them are the same."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation

# In this order: the first pattern that occurs decides.
_PATTERNS = (
    re.compile(r"\\boxed\{([^{}]+)\}"),
    re.compile(r"####\s*(\S+)"),
    re.compile(r"[Aa]nswer is:?\s*\$?([^\s$]+)"),
)


def final_answer(text: str) -> str | None:
    r"""What stands in the last `\boxed{}`, else after the first `####`, else after the first `answer is`."""
    boxed = _PATTERNS[0].findall(text)
    if boxed:
        return _plain(boxed[-1])
    for pattern in _PATTERNS[1:]:
        match = pattern.search(text)
        if match:
            return _plain(match.group(1))
    return None


def same_answer(first: str | None, second: str | None) -> bool:
    """Equal as numbers, or as texts apart from case and spaces; no answer equals nothing."""
    if first is None or second is None:
        return False
    numbers = _number(first), _number(second)
    if None not in numbers:
        return numbers[0] == numbers[1]
    return _plain(first).casefold() == _plain(second).casefold()


def is_right(text: str, answer: str) -> bool:
    """Whether a text's final answer is the given one (`answer` may itself be a text with a final answer)."""
    return same_answer(final_answer(text), final_answer(answer) or answer)


def _plain(text: str) -> str:
    return text.strip().rstrip(".,;:!").strip()


def _number(text: str) -> Decimal | None:
    try:
        value = Decimal(_plain(text).replace(",", "").removeprefix("$"))
    except InvalidOperation:
        return None
    return value if value.is_finite() else None
