"""Co-LLM's deferral head and its fit: one linear layer on the base's hidden vector."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from training.routers.fit import Batch, FitOptions, Fitted, Losses, binary_losses, fit
from training.routers.held_out import split_rows, training_rows
from training.routers.rules.co_llm import pseudo_label
from training.routers.signals import Signal, StepRows
from training.routers.store import Rows

ARCHITECTURE = "LinearHead"
# Deferrals are rare; the authors' weight of them in the first pass.
_PSEUDO_LABEL_WEIGHT = 8.0
# And the one that they take where the labels stay a part of the loss.
_SUPERVISION_WEIGHT = 5.0
_COLUMNS = ("hidden", "sampled", "large", "gold", "log_p_small", "log_p_large")


def marginal_losses(logits: Tensor, batch: Batch) -> Tensor:
    """-log[(1 - g) p_base + g p_assistant] of every gold token, as `rules.co_llm.token_loss`."""
    base = F.logsigmoid(-logits) + batch["log_p_small"]
    assistant = F.logsigmoid(logits) + batch["log_p_large"]
    return -torch.logaddexp(base, assistant)


def supervised_losses(share: float) -> Losses:
    """The authors' weakly supervised variant: (1 - share) of the likelihood's loss, share of the pseudo-labels'."""
    binary = binary_losses(_SUPERVISION_WEIGHT)

    def losses(logits: Tensor, batch: Batch) -> Tensor:
        return (1 - share) * marginal_losses(logits, batch) + share * binary(logits, batch)

    return losses


def train_deferral(
    rows: Rows, start: FitOptions, options: FitOptions, supervision: float = 0.0
) -> tuple[nn.Linear, Batch, Fitted]:
    """The head in its best state, and the held-out rows.

    First some epochs (`start`) on pseudo-labels, then the likelihood of the gold tokens, which alone would begin
    with no idea of where to defer. supervision: share of the pseudo-labels in the loss after that.
    """
    held_out, count = split_rows(rows, _COLUMNS)
    torch.manual_seed(options.seed)
    head = nn.Linear(held_out["hidden"].shape[1], 1)
    nn.init.zeros_(head.weight)
    nn.init.zeros_(head.bias)

    def run(options: FitOptions, prepare: Callable[[Batch], Batch], losses: Callable) -> Fitted:
        def epoch(rng: random.Random) -> Iterator[Batch]:
            yield from map(prepare, training_rows(rows, options.batch_rows, rng, least=2))

        steps = -(-count // options.batch_rows)
        return fit(
            head, lambda b: _logits(head, b["hidden"]), epoch, [prepare(held_out)], losses, options, steps
        )

    run(start, _with_pseudo_labels, binary_losses(_PSEUDO_LABEL_WEIGHT))
    if supervision == 0:
        return head, held_out, run(options, dict, marginal_losses)
    return head, held_out, run(options, _with_pseudo_labels, supervised_losses(supervision))


def _with_pseudo_labels(batch: Batch) -> Batch:
    tokens = (batch[name].tolist() for name in ("gold", "sampled", "large"))
    labels = [pseudo_label(*row) for row in zip(*tokens, strict=True)]
    return {**batch, "label": torch.tensor(labels)}


def _logits(head: nn.Linear, hidden: Tensor) -> Tensor:
    return head(hidden.float())[:, 0]


@torch.no_grad()
def head_scores(head: nn.Linear, hidden: Tensor) -> list[float]:
    """Probabilities of deferring, [rows]."""
    return _logits(head, hidden).sigmoid().tolist()


def co_llm_signal(head: nn.Linear) -> Signal:
    """The head as the runtime uses it: the assistant writes above the threshold."""

    @torch.no_grad()
    def score(rows: StepRows) -> Tensor:
        return _logits(head, rows.hidden).sigmoid()

    return Signal("co-llm", score, "above")
