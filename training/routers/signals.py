"""What routers decide by at a step of the small model, and the comparison with the threshold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from torch import Tensor

from training.scoring import normalised_entropy

Sends = Literal["at_least", "above", "below"]


@dataclass(frozen=True)
class StepRows:
    """One step of the small model: hidden [n, H] after the final norm, raw logits [n, V], sampled [n].

    vocabulary: ids from here on are padding of the embedding; None = there are none.
    """

    hidden: Tensor
    logits: Tensor
    sampled: Tensor
    vocabulary: int | None = None

    def top(self, count: int) -> Tensor:
        """The largest raw logits, descending, [n, count]; padding has no place in the list, as at run time."""
        return self.logits[:, : self.vocabulary].topk(count, dim=-1).values


@dataclass(frozen=True)
class Signal:
    """A router's score per row, and on which side of the threshold the large model writes.

    sends: R2R sends at the threshold or above, Co-LLM and R-Stitch above it, CITER below it, as at run time.
    """

    name: str
    score: Callable[[StepRows], Tensor]
    sends: Sends

    def is_sent(self, scores: Tensor, threshold: float | Tensor) -> Tensor:
        """Which rows go to the large model, [n]; NaN does, whatever the comparison."""
        if self.sends == "at_least":
            return ~(scores < threshold)
        if self.sends == "above":
            return ~(scores <= threshold)
        return ~(scores >= threshold)

    def suspicion(self, scores: Tensor) -> Tensor:
        """Scores turned so that larger ones are sent first."""
        return -scores if self.sends == "below" else scores


ENTROPY = Signal("entropy", lambda rows: normalised_entropy(rows.logits), "above")
"""R-Stitch's signal, which needs no training; here the large model writes one token at a time.

Over all ids, padding included, as at run time.
"""
