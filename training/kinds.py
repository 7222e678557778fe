"""The nine kinds of problems. Each fills a Writer and returns the answer."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from training.arithmetic import add, multiply, subtract
from training.problem import Writer
from training.sentences_unit import UNITS, Unit

Build = Callable[[Writer], int]


def _gain(w: Writer, current: int) -> int:
    amount = w.amount()
    w.tell("gain", b=amount)
    w.reason(f"Add the new {w.fields['o']}: {current}+{amount}. {add(current, amount)}")
    return current + amount


def _loss(w: Writer, current: int) -> int:
    amount = min(w.amount(), current - 1)
    w.tell("loss", b=amount)
    gone = f"Take away the {w.fields['o']} that are gone: {current}-{amount}."
    w.reason(f"{gone} {subtract(current, amount)}")
    return current - amount


def _times(w: Writer, current: int) -> int:
    factor = w.between(2, 5)
    w.tell("times", k=factor)
    w.reason(f"{factor} times as many: {factor}*{current}. {multiply(factor, current)}")
    return current * factor


def _packs(w: Writer, current: int, *, gained: bool) -> int:
    count, each = w.containers()
    while not gained and count * each >= current:
        count, each = w.containers()
    container = w.new_container()
    w.tell("packgain" if gained else "packloss", k=count, n=each)
    w.reason(f"The {container} hold {count}*{each} {w.fields['o']}. {multiply(count, each)}")
    total = count * each
    if gained:
        w.reason(f"Add them: {current}+{total}. {add(current, total)}")
        return current + total
    w.reason(f"Take them away: {current}-{total}. {subtract(current, total)}")
    return current - total


def _event(w: Writer, current: int) -> int:
    """One random event that keeps the number positive and small enough."""
    events: list[Callable[[Writer, int], int]] = [_gain, partial(_packs, gained=True)]
    if current > 20:
        events.append(_loss)
    if current > 60:
        events.append(partial(_packs, gained=False))
    if current < 120:
        events.append(_times)
    return w.rng.choice(events)(w, current)


def story(w: Writer, events: int) -> int:
    """A start and one to three events."""
    current = w.start_number()
    w.tell("start", a=current)
    for _ in range(events):
        current = _event(w, current)
    w.tell("qnow")
    w.reason(f"There are {current} {w.fields['o']} now.")
    return current


def groups(w: Writer) -> int:
    """Containers of equal content: all of it, minus some, or plus other containers."""
    objects, container = w.fields["o"], w.fields["p"]
    count, each = w.containers()
    total = count * each
    w.tell("groups", k=count, n=each)
    w.reason(f"The {container} hold {count}*{each} {objects}. {multiply(count, each)}")
    form = w.rng.random()
    if form < 0.35:
        w.tell("qall")
    elif form < 0.7:
        lost = min(w.amount(), total - 1)
        w.tell("broken", b=lost)
        w.tell("qgood")
        w.reason(f"Take away {lost}: {total}-{lost}. {subtract(total, lost)}")
        total -= lost
    else:
        other = w.new_container()
        count, each = w.containers()
        w.tell("packgain", k=count, n=each)
        w.tell("qall")
        more = count * each
        w.reason(f"The {other} hold {count}*{each} {objects}. {multiply(count, each)}")
        w.reason(f"Add both: {total}+{more}. {add(total, more)}")
        total += more
    w.reason(f"There are {total} {objects}.")
    return total


def _compared(w: Writer, first: int, relation: str) -> int:
    """Tells how B's number follows from A's, and returns B's."""
    second = w.fields["B"]
    if relation == "ctimes":
        factor = w.between(2, 6)
        w.tell(relation, k=factor)
        work = multiply(factor, first)
        w.reason(f"{second} has {factor} times as many: {factor}*{first}. {work}")
        return factor * first
    if relation == "cmore":
        amount = w.amount()
        w.tell(relation, b=amount)
        w.reason(f"{second} has {amount} more: {first}+{amount}. {add(first, amount)}")
        return first + amount
    amount = min(w.amount(), first - 1)
    w.tell(relation, b=amount)
    w.reason(f"{second} has {amount} fewer: {first}-{amount}. {subtract(first, amount)}")
    return first - amount


def compare(w: Writer) -> int:
    """B has more, fewer or k times as many as A; asked for B's number or the sum."""
    first = w.start_number()
    w.tell("start", a=first)
    relation = w.rng.choice(("cmore", "cless", "ctimes"))
    if relation == "ctimes" and first > 99:
        w.restart()
        first = w.between(12, 99)
        w.tell("start", a=first)
    second = _compared(w, first, relation)
    objects = w.fields["o"]
    if w.rng.random() < 0.4:
        w.tell("qb")
        w.reason(f"{w.fields['B']} has {second} {objects}.")
        return second
    w.tell("qtog")
    w.reason(f"Add both: {first}+{second}. {add(first, second)}")
    w.reason(f"Together they have {first + second} {objects}.")
    return first + second


def _difference(w: Writer, one: int, other: int, what: str) -> int:
    high, low = max(one, other), min(one, other)
    w.reason(f"{high} is larger than {low}.")
    w.reason(f"Subtract: {high}-{low}. {subtract(high, low)}")
    w.reason(f"The difference is {high - low} {what}.")
    return high - low


def difference(w: Writer) -> int:
    """How many more one person has than the other."""
    first, second = w.start_number(), w.start_number()
    while first == second:
        second = w.start_number()
    names = (w.fields["A"], w.fields["B"])
    more, less = names if first > second else names[::-1]
    w.tell("two", a=first, b=second)
    w.tell("qdiff", people={"W": more, "L": less})
    return _difference(w, first, second, w.fields["o"])


def money(w: Writer) -> int:
    """The price of k goods, or the change."""
    count, price = w.between(2, 9), w.between(3, 89)
    total = count * price
    bought = w.sentence("cost", opener=False, k=count, n=price)
    goods = w.fields["i"]
    w.reason(f"{count} {goods} cost {count}*{price} dollars. {multiply(count, price)}")
    if w.rng.random() < 0.35:
        w.sentences.append(bought + w.sentence("qcost"))
        w.reason(f"The price is {total} dollars.")
        return total
    paid = total + w.between(1, 120)
    w.sentences.append(bought + w.sentence("pay", b=paid))
    w.reason(f"Subtract the price: {paid}-{total}. {subtract(paid, total)}")
    w.reason(f"{paid - total} dollars are left.")
    return paid - total


def _unit_numbers(w: Writer, unit: Unit) -> tuple[int, int]:
    if unit.factor == 7:
        small = w.between(2, 6)
        return w.between(2, 40), small
    small = w.between(2, 11 if unit.large == "foot" else 59)
    return w.between(2, 9), small


def conversion(w: Writer) -> int:
    """A length or time in two units, asked for in the smaller one."""
    unit = w.rng.choice(UNITS)
    large, small = _unit_numbers(w, unit)
    w.tell(unit.slot, h=large, m=small)
    # The one-digit factor goes first, as in all products the models see.
    k, n = (unit.factor, large) if unit.factor == 7 else (large, unit.factor)
    w.reason(f"One {unit.large} is {unit.factor} {unit.small}: {k}*{n}. {multiply(k, n)}")
    w.reason(f"Add {small}: {k * n}+{small}. {add(k * n, small)}")
    total = k * n + small
    w.reason(f"That is {total} {unit.small}.")
    return total


def work(w: Writer) -> int:
    """A pay for days of work minus an expense, or the difference of two pays."""
    days, rate = w.between(2, 9), w.between(12, 89)
    pay = days * rate
    w.tell("work", k=days, n=rate)
    w.reason(f"The pay is {days}*{rate} dollars. {multiply(days, rate)}")
    if w.rng.random() < 0.5:
        spent = w.between(5, pay - 1) if pay < 105 else w.between(5, 99)
        w.tell("workspend", b=spent)
        w.reason(f"Subtract: {pay}-{spent}. {subtract(pay, spent)}")
        w.reason(f"{pay - spent} dollars are left.")
        return pay - spent
    days, rate = w.between(2, 9), w.between(12, 89)
    while days * rate == pay:
        days, rate = w.between(2, 9), w.between(12, 89)
    w.tell("work", people={"A": w.fields["B"]}, k=days, n=rate)
    w.tell("qwork2")
    other = days * rate
    w.reason(f"The other pay is {days}*{rate} dollars. {multiply(days, rate)}")
    return _difference(w, pay, other, "dollars")


KINDS: dict[str, Build] = {
    "story1": partial(story, events=1),
    "story2": partial(story, events=2),
    "story3": partial(story, events=3),
    "groups": groups,
    "compare": compare,
    "diff": difference,
    "money": money,
    "unit": conversion,
    "work": work,
}
