"""The shipped tokenizer: round trips, single digits, and the same prompt as the chat template's."""

from __future__ import annotations

from pathlib import Path

import pytest
from jinja2 import Template
from training.generator import problem_list
from training.tokenizer import CHAT_TEMPLATE, END, END_ID, load_tokenizer, prompt_text, tokenizer_config

MODELS = Path(__file__).resolve().parents[2] / "models"
SMALL = MODELS / "small"


def test_round_trip_of_problems_and_other_text() -> None:
    tokenizer = load_tokenizer(SMALL)
    texts = [p.question + "\n" + p.answer_text for p in problem_list(200, "train", 3)]
    for text in [*texts, "Zoë pays 7 € – 漢字 🙂 \t x"]:
        assert tokenizer.decode(tokenizer.encode(text).ids) == text


def test_digits_stand_alone() -> None:
    tokenizer = load_tokenizer(SMALL)
    assert tokenizer.encode("4207").tokens == ["4", "2", "0", "7"]


def test_prompt_equals_the_rendered_chat_template() -> None:
    messages = [{"role": "user", "content": "What is 2+3?"}]
    rendered = Template(CHAT_TEMPLATE).render(messages=messages, add_generation_prompt=True)
    assert rendered == prompt_text("What is 2+3?")


def test_end_token_is_one_id() -> None:
    assert load_tokenizer(SMALL).encode(END).ids == [END_ID]


@pytest.mark.parametrize("size", ["small", "medium", "large"])
def test_all_sizes_share_the_tokenizer(size: str) -> None:
    if not (MODELS / size).exists():
        pytest.skip(f"models/{size} is not there")
    for name in ("tokenizer.json", "tokenizer_config.json"):
        assert (MODELS / size / name).read_bytes() == (SMALL / name).read_bytes()


def test_shipped_template_is_ours() -> None:
    stored = (SMALL / "tokenizer_config.json").read_text()
    assert repr(CHAT_TEMPLATE)[1:10] in stored
    assert tokenizer_config()["eos_token"] == END
