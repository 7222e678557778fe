"""Batches, schedule and resuming, with the tiny size."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from training.batches import BatchStream, collate, cut
from training.muon import orthogonalise
from training.schedule import Schedule
from training.tokenizer import END_ID, load_tokenizer
from training.train import Trainer, parse_arguments

SMALL = Path(__file__).resolve().parents[2] / "models" / "small"


@pytest.fixture(autouse=True)
def _small_pools(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("training.batches.POOL_PROBLEMS", 60)
    torch.set_num_threads(1)


def trainer(out: Path, tokens: float = 1e5) -> Trainer:
    arguments = f"--size tiny --tokenizer {SMALL} --out {out} --tokens {tokens} --batch-tokens 1024"
    return Trainer(parse_arguments(arguments.split()))


def test_targets_are_the_answers_next_tokens() -> None:
    batch = collate([([5, 6, 7], [8, 9, END_ID]), ([5, 6], [4, END_ID])])
    flat = batch.ids.flatten()
    assert flat[batch.chosen].tolist() == [7, 8, 9, 6, 4]
    assert batch.targets.tolist() == [8, 9, END_ID, 4, END_ID]
    assert batch.tokens == 8


def test_batches_respect_the_budget_and_lose_no_example() -> None:
    examples = [([1] * n, [2] * (n % 7 + 1)) for n in range(1, 90)]
    batches = cut(examples, 512)
    assert sum(len(batch.ids) for batch in batches) == len(examples)
    assert all(batch.ids.numel() <= 512 for batch in batches)


def test_stream_continues_across_pools() -> None:
    tokenizer = load_tokenizer(SMALL)
    stream = BatchStream(tokenizer, 1024, seed=1)
    for _ in range(9):
        stream.next()
    copy = BatchStream(tokenizer, 1024, seed=99)
    copy.load_state_dict(stream.state_dict())
    for _ in range(20):
        assert torch.equal(stream.next().ids, copy.next().ids)


def test_resumed_run_equals_an_uninterrupted_one(tmp_path: Path) -> None:
    whole = trainer(tmp_path)
    for _ in range(6):
        whole.step(whole.stream.next())
    first = trainer(tmp_path)
    for _ in range(3):
        first.step(first.stream.next())
    first.save()
    second = trainer(tmp_path)
    second.restore()
    for _ in range(3):
        second.step(second.stream.next())
    assert second.counters.tokens == whole.counters.tokens
    for name, weight in whole.model.state_dict().items():
        assert torch.equal(weight, second.model.state_dict()[name]), name


def test_checkpoint_of_another_run_is_refused(tmp_path: Path) -> None:
    run = trainer(tmp_path)
    run.save()
    run.args.seed = 2
    with pytest.raises(ValueError, match="seed 1"):
        run.restore()


def test_loss_falls(tmp_path: Path) -> None:
    run = trainer(tmp_path)
    for _ in range(25):
        run.step(run.stream.next())
    losses = run._losses
    assert sum(losses[-5:]) < 0.8 * sum(losses[:5])


def test_schedule_rises_holds_and_falls() -> None:
    schedule = Schedule(budget=10e6)
    factors = [schedule.factor(int(t)) for t in (0, 2e5, 4e6, 7.5e6, 10e6)]
    assert factors[0] < 0.01
    assert factors[1] == factors[2] == 1
    assert factors[3] == pytest.approx(0.505)
    assert factors[4] == pytest.approx(0.01)


def test_orthogonalised_matrices_have_singular_values_near_one() -> None:
    stack = torch.randn(2, 48, 32, generator=torch.Generator().manual_seed(0))
    values = torch.linalg.svdvals(orthogonalise(stack))
    assert values.min() > 0.5
    assert values.max() < 1.4
