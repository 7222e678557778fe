"""Co-LLM's loss and pseudo-labels (arXiv 2403.03870) on plain lists.

The choice of who writes a token is latent: with probability g = sigmoid(d) the assistant does. Training maximises
the likelihood of the gold tokens under that mixture, so it needs no label; the labels only start it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Literal

Method = Literal["a", "b"]


def pseudo_label(gold_token: int, base_token: int, assistant_token: int, method: Method = "a") -> int:
    """1 = defer. a: the assistant writes the gold token and the base does not; b: the base does not."""
    is_base_wrong = base_token != gold_token
    return int(is_base_wrong and (method == "b" or assistant_token == gold_token))


def token_loss(deferral_logit: float, log_p_base: float, log_p_assistant: float) -> float:
    """-log[(1 - g) p_base + g p_assistant] of a gold token, in nats."""
    return -_log_sum(
        _log_sigmoid(-deferral_logit) + log_p_base, _log_sigmoid(deferral_logit) + log_p_assistant
    )


def token_gradient(deferral_logit: float, log_p_base: float, log_p_assistant: float) -> float:
    """Derivative of `token_loss` by the deferral logit: g minus the assistant's share of the mixture.

    Equal to -g(1 - g)(p_assistant - p_base) / mixture, without a quotient of tiny probabilities.
    """
    base = _log_sigmoid(-deferral_logit) + log_p_base
    assistant = _log_sigmoid(deferral_logit) + log_p_assistant
    return math.exp(_log_sigmoid(deferral_logit)) - math.exp(assistant - _log_sum(base, assistant))


def _log_sigmoid(x: float) -> float:
    return min(x, 0.0) - math.log1p(math.exp(-abs(x)))


def _log_sum(a: float, b: float) -> float:
    high, low = max(a, b), min(a, b)
    return high + math.log1p(math.exp(low - high))


def _replay_labels(given: Mapping[str, Any]) -> dict[str, Any]:
    rows = [(row["gold"], row["baseArgmax"], row["assistantArgmax"]) for row in given["rows"]]
    return {
        "methodA": [pseudo_label(*row, "a") for row in rows],
        "methodB": [pseudo_label(*row, "b") for row in rows],
    }


def _replay_loss(given: Mapping[str, Any]) -> dict[str, Any]:
    names = ("deferralLogit", "logProbBaseGold", "logProbAssistantGold")
    tokens = [tuple(token[name] for name in names) for token in given["tokens"]]
    losses = [token_loss(*token) for token in tokens]
    return {
        "perToken": losses,
        "meanLoss": sum(losses) / len(losses),
        "dLossPerToken_dDeferralLogit": [token_gradient(*token) for token in tokens],
    }


REPLAYS = {"labels": _replay_labels, "loss": _replay_loss}
"""By the kind of a golden vector: what it expects, from what it gives."""
