"""CITER's labels along gold chains, with roll-outs where neither model writes the gold token."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from training.routers.answers import final_answer, same_answer
from training.routers.citer_network import citer_signal, load_confidence
from training.routers.continuation import Cut, greedy_continuations
from training.routers.gold_rows import ChainRows
from training.routers.pair import Pair
from training.routers.routed import routed_answers
from training.routers.rules.citer import label, needs_roll_out


@dataclass(frozen=True)
class Labeller:
    """router: head of the last round, which finishes roll-outs with the large model; None: the small one alone."""

    pair: Pair
    max_new_tokens: int
    router: Path | None

    def labels(self, rows: Sequence[ChainRows]) -> list[tuple[list[int], int]]:
        """Per chain: one label per gold token, and how many of them needed a roll-out."""
        verdicts = iter(self._verdicts(rows))
        labelled = []
        for row in rows:
            asked = [needs_roll_out(*tokens) for tokens in _tokens(row)]
            labels = [
                label(*tokens, next(verdicts) if is_asked else None)
                for tokens, is_asked in zip(_tokens(row), asked, strict=True)
            ]
            labelled.append((labels, sum(asked)))
        return labelled

    def _verdicts(self, rows: Sequence[ChainRows]) -> list[bool]:
        """Whether the answer is right that goes on from the prefix and the small model's token, where it is asked."""
        cuts = [
            Cut(number, len(row.chain.prompt) + at, tokens[0], self.max_new_tokens - at)
            for number, row in enumerate(rows)
            for at, tokens in enumerate(_tokens(row))
            if needs_roll_out(*tokens)
        ]
        right = []
        for cut, tail in zip(cuts, self._tails([row.chain.sequence for row in rows], cuts), strict=True):
            chain = rows[cut.sequence].chain
            text = self.pair.text([*chain.sequence[len(chain.prompt) : cut.length], *tail])
            right.append(same_answer(final_answer(text), chain.answer))
        return right

    def _tails(self, sequences: Sequence[list[int]], cuts: Sequence[Cut]) -> list[list[int]]:
        pair = self.pair
        if self.router is None:
            answers = greedy_continuations(pair.small, sequences, cuts, pair.end_ids, pair.vocabulary)
            return [answer.tokens for answer in answers]
        network, threshold = load_confidence(self.router)
        going = [cut for cut in cuts if cut.token not in pair.end_ids and cut.room > 1]
        # The small model's own token is part of the prefix: without it the roll-out would judge something else.
        prefixes = [[*sequences[cut.sequence][: cut.length], cut.token] for cut in going]
        signal = citer_signal(network.to(pair.small.device))
        answers = routed_answers(pair, prefixes, signal, threshold, self.max_new_tokens)
        tails = {cut: answer.tokens for cut, answer in zip(going, answers, strict=True)}
        return [[cut.token, *tails.get(cut, [])][: cut.room] for cut in cuts]


def _tokens(row: ChainRows) -> list[tuple[int, int, int]]:
    return list(zip(row.small.argmax.tolist(), row.large.argmax.tolist(), row.chain.gold, strict=True))
