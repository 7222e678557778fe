"""Trains one size of the family on a CPU, resumably: from scratch, or on from a model directory.

    python -m training.train --size large --tokenizer models/large --out runs/large --tokens 12e6
    python -m training.train … --resume                      # goes on from the last checkpoint
    python -m training.train … --init models/large --lr 0.01  # another phase, from trained weights

The run directory gets checkpoint.pt (weights, optimiser states, data position, counters),
log.jsonl, and at the end weights.pt (fp32) and run.json. `training.export` makes the model directory.
SIGTERM or Ctrl-C saves a checkpoint and stops.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from training.batches import Batch, BatchStream
from training.checkpoint import load_model
from training.model import SIZES, LanguageModel
from training.muon import Muon
from training.schedule import Schedule
from training.sentences import check_held_out
from training.tokenizer import load_tokenizer

CLIP_NORM = 1.0
ADAM_BETAS = (0.9, 0.95)
# AdamW's share of Muon's learning rate, for embeddings and norms.
ADAM_LR_SHARE = 0.25


@dataclass
class Counters:
    """What a run has done so far; tokens without padding, seconds of stepping only."""

    steps: int = 0
    tokens: int = 0
    answer_tokens: int = 0
    seconds: float = 0.0


class Trainer:
    """Model, optimisers, data and counters of one run."""

    def __init__(self, args: argparse.Namespace) -> None:
        torch.manual_seed(args.seed)
        tokenizer = load_tokenizer(args.tokenizer)
        self.args = args
        self.model = LanguageModel(SIZES[args.size], tokenizer.get_vocab_size())
        if args.init:
            self.model.load_state_dict(load_model(args.init).state_dict())
        self.schedule = Schedule(args.tokens, hold_until=args.hold_until)
        self.stream = BatchStream(tokenizer, args.batch_tokens, args.seed)
        self.counters = Counters()
        self.optimizers = self._make_optimizers()
        self._losses: list[float] = []

    def _make_optimizers(self) -> list[torch.optim.Optimizer]:
        matrices, others = [], []
        for name, parameter in self.model.named_parameters():
            inside = parameter.dim() == 2 and "embed" not in name
            (matrices if inside else others).append(parameter)
        adam = torch.optim.AdamW(others, lr=self.args.lr * ADAM_LR_SHARE, betas=ADAM_BETAS, weight_decay=0.0)
        optimizers: list[torch.optim.Optimizer] = [Muon(matrices, lr=self.args.lr), adam]
        for optimizer in optimizers:
            for group in optimizer.param_groups:
                group["peak_lr"] = group["lr"]
        return optimizers

    @property
    def done(self) -> bool:
        return self.counters.tokens >= self.args.tokens

    def step(self, batch: Batch) -> None:
        """One update."""
        started = time.perf_counter()
        loss = self.model.loss(batch.ids, batch.chosen, batch.targets)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), CLIP_NORM)
        factor = self.schedule.factor(self.counters.tokens)
        for optimizer in self.optimizers:
            for group in optimizer.param_groups:
                group["lr"] = group["peak_lr"] * factor
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        self._losses.append(loss.item())
        self.counters.steps += 1
        self.counters.tokens += batch.tokens
        self.counters.answer_tokens += len(batch.targets)
        self.counters.seconds += time.perf_counter() - started

    def log_line(self) -> dict[str, Any]:
        """Counters, mean loss since the last line and speed."""
        mean = sum(self._losses) / max(1, len(self._losses))
        self._losses = []
        counters = self.counters
        return {
            **asdict(counters),
            "seconds": round(counters.seconds, 1),
            "loss": round(mean, 4),
            "lr_factor": round(self.schedule.factor(counters.tokens), 3),
            "tokens_per_second": round(counters.tokens / max(1e-9, counters.seconds)),
        }

    def save(self) -> None:
        """Writes the checkpoint; an interrupted write leaves the old one whole."""
        state = {
            "size": self.args.size,
            "seed": self.args.seed,
            "model": self.model.state_dict(),
            "optimizers": [optimizer.state_dict() for optimizer in self.optimizers],
            "stream": self.stream.state_dict(),
            "counters": asdict(self.counters),
        }
        partial = self.args.out / "checkpoint.pt.partial"
        torch.save(state, partial)
        os.replace(partial, self.args.out / "checkpoint.pt")

    def restore(self) -> None:
        """Goes on from the checkpoint of the run directory."""
        state = torch.load(self.args.out / "checkpoint.pt", weights_only=True)
        if (state["size"], state["seed"]) != (self.args.size, self.args.seed):
            raise ValueError(
                f"checkpoint is of size {state['size']}, seed {state['seed']}: "
                f"not {self.args.size}, {self.args.seed}"
            )
        self.model.load_state_dict(state["model"])
        for optimizer, saved in zip(self.optimizers, state["optimizers"], strict=True):
            optimizer.load_state_dict(saved)
        self.stream.load_state_dict(state["stream"])
        self.counters = Counters(**state["counters"])

    def finish(self) -> None:
        """Writes the fp32 weights and the facts that a model card needs."""
        torch.save(self.model.state_dict(), self.args.out / "weights.pt")
        settings = {
            key: str(value) if isinstance(value, Path) else value for key, value in vars(self.args).items()
        }
        facts = {
            "settings": settings,
            "parameters": self.model.parameter_count(),
            **asdict(self.counters),
            "torch": torch.__version__,
        }
        (self.args.out / "run.json").write_text(json.dumps(facts, indent=1), encoding="utf-8")


def train(trainer: Trainer) -> bool:
    """Runs to the end of the budget or to a stop signal; returns whether the budget is used up."""
    args = trainer.args
    stop: list[int] = []
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda received, _frame: stop.append(received))
    limit = args.pause_at_tokens
    logged = saved = trainer.counters.seconds
    with (args.out / "log.jsonl").open("a", encoding="utf-8") as log:
        while not trainer.done and not stop and (limit is None or trainer.counters.tokens < limit):
            trainer.step(trainer.stream.next())
            now = trainer.counters.seconds
            if now - logged >= args.log_seconds or trainer.done:
                logged = now
                line = json.dumps(trainer.log_line())
                print(line, flush=True)
                log.write(line + "\n")
                log.flush()
            if now - saved >= args.checkpoint_seconds:
                saved = now
                trainer.save()
    trainer.save()
    return trainer.done


def parse_arguments(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--size", choices=sorted(SIZES), required=True)
    parser.add_argument("--tokenizer", type=Path, required=True, help="directory of tokenizer.json")
    parser.add_argument("--out", type=Path, required=True, help="run directory")
    parser.add_argument("--tokens", type=float, required=True, help="budget, prompts included")
    parser.add_argument("--init", type=Path, help="model directory to start from")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--lr", type=float, default=0.02, help="peak, for Muon")
    parser.add_argument("--hold-until", type=float, default=0.5, help="share of the budget at peak")
    parser.add_argument("--batch-tokens", type=int, default=3072, help="per step, padding included")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--pause-at-tokens", type=float, help="checkpoint and stop here")
    parser.add_argument("--log-seconds", type=float, default=20)
    parser.add_argument("--checkpoint-seconds", type=float, default=60)
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> None:
    args = parse_arguments(arguments)
    check_held_out()
    torch.set_num_threads(args.threads)
    args.out.mkdir(parents=True, exist_ok=True)
    trainer = Trainer(args)
    if args.resume:
        trainer.restore()
    elif (args.out / "checkpoint.pt").exists():
        raise SystemExit(f"{args.out} holds a run already: give --resume or another --out")
    print(f"{args.size}: {trainer.model.parameter_count()} parameters", flush=True)
    if train(trainer):
        trainer.finish()


if __name__ == "__main__":
    main()
