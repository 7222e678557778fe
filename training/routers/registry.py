"""The algorithms by name. Each module has two functions and may add options of its own.

add_collect_options(parser), add_train_options(parser)
collect(args, pair, questions) -> None    writes args.out
train(args) -> None                       reads args.data, writes args.out
"""

from __future__ import annotations

import importlib
from types import ModuleType

ALGORITHMS = {"r2r": "r2r", "citer": "citer", "co-llm": "co_llm"}


def algorithm_module(name: str) -> ModuleType:
    """The module of an algorithm of ALGORITHMS."""
    return importlib.import_module(f"training.routers.algorithms.{ALGORITHMS[name]}")
