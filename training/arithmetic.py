"""Column-by-column arithmetic in words: the reasoning steps the models learn to write.

One column per sentence, carries and borrows named only where there are any. There are no spaces
inside a sum, because the tokenizer would spend a token on each of them. In a column with a borrow
the upper digit is written already raised by ten.
"""

from __future__ import annotations

_COLUMNS = ("Ones", "Tens", "Hundreds", "Thousands")


def _digits(number: int) -> list[int]:
    """Decimal digits, ones first."""
    return [int(c) for c in reversed(str(number))]


def _digit(digits: list[int], column: int) -> int:
    return digits[column] if column < len(digits) else 0


def add(a: int, b: int) -> str:
    """The text of a+b, for example ``Ones: 7+5=12, write 2, carry 1. Tens: 4+0+1=5. So 47+5=52.``"""
    if a < 10 and b < 10:
        return f"{a}+{b}={a + b}."
    upper, lower = _digits(a), _digits(b)
    width = max(len(upper), len(lower))
    carry = 0
    parts: list[str] = []
    for column in range(width):
        x, y = _digit(upper, column), _digit(lower, column)
        total = x + y + carry
        carried_in = f"+{carry}" if carry else ""
        text = f"{_COLUMNS[column]}: {x}+{y}{carried_in}={total}"
        if total > 9 and column < width - 1:
            text += f", write {total % 10}, carry 1"
        parts.append(text + ".")
        carry = total // 10
    return " ".join(parts) + f" So {a}+{b}={a + b}."


def subtract(a: int, b: int) -> str:
    """The text of a-b for a ≥ b ≥ 0."""
    if a < b:
        raise ValueError(f"subtract needs a >= b, got {a} and {b}")
    if a < 10:
        return f"{a}-{b}={a - b}."
    upper, lower = _digits(a), _digits(b)
    borrow = 0
    parts: list[str] = []
    for column, x in enumerate(upper):
        y = _digit(lower, column)
        borrows = x - y - borrow < 0
        shown = x + 10 if borrows else x
        borrowed_in = f"-{borrow}" if borrow else ""
        text = f"{_COLUMNS[column]}: {shown}-{y}{borrowed_in}={shown - y - borrow}"
        if borrows:
            text += ", borrow 1"
        parts.append(text + ".")
        borrow = 1 if borrows else 0
    return " ".join(parts) + f" So {a}-{b}={a - b}."


def multiply(k: int, n: int) -> str:
    """The text of k*n for a one-digit k."""
    if n < 10:
        return f"{k}*{n}={k * n}."
    digits = _digits(n)
    carry = 0
    parts: list[str] = []
    for column, x in enumerate(digits):
        product = k * x
        text = f"{_COLUMNS[column]}: {k}*{x}={product}"
        if carry:
            text += f", {product}+{carry}={product + carry}"
        total = product + carry
        if total > 9 and column < len(digits) - 1:
            text += f", write {total % 10}, carry {total // 10}"
        parts.append(text + ".")
        carry = total // 10
    return " ".join(parts) + f" So {k}*{n}={k * n}."
