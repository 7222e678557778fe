"""Learning-rate schedule by share of the token budget: warm up, hold, fall to near zero.

The long hold makes the budget adjustable: a paused run may be resumed with another budget as long
as the fall has not begun, and is then the same as if it had been started with it.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Schedule:
    """Factors of the peak learning rate.

    budget: training tokens in all (prompt and answer).
    warm_up: tokens of the linear rise.
    hold_until: share of the budget where the linear fall begins.
    floor: factor at the very end.
    """

    budget: float
    warm_up: float = 200_000
    hold_until: float = 0.5
    floor: float = 0.01

    def factor(self, tokens: int) -> float:
        """The factor after so many tokens."""
        progress = min(1.0, tokens / self.budget)
        rise = min(1.0, (tokens + 1000) / min(self.warm_up, 0.1 * self.budget))
        if progress <= self.hold_until:
            return rise
        fall = (1 - progress) / (1 - self.hold_until)
        return min(rise, self.floor + (1 - self.floor) * fall)
