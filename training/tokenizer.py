"""The family's tokenizer: loading, prompt layout, and how it was built.

The shipped models share one tokenizer.json whose ids are part of their weights: reuse it, never
retrain it for an existing family. `build` makes another one for a new family.

    python -m training.tokenizer --out DIR --entries 768
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

from training.generator import draw

PAD, END, USER, ASSISTANT = "<|pad|>", "<|end|>", "<|user|>", "<|assistant|>"
SPECIAL_TOKENS = (PAD, END, USER, ASSISTANT)
PAD_ID, END_ID = 0, 1

# Qwen2's split: digits stand alone, so a number costs one token per digit and columns can be read.
SPLIT_PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)

CHAT_TEMPLATE = (
    "{% for m in messages %}{{ '<|' + m['role'] + '|>' + m['content'] + '<|end|>' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}"
)


def load_tokenizer(directory: Path) -> Tokenizer:
    """The tokenizer of a model directory; raises ValueError if its special tokens are not ours."""
    tokenizer = Tokenizer.from_file(str(directory / "tokenizer.json"))
    ids = [tokenizer.token_to_id(token) for token in SPECIAL_TOKENS]
    if ids != list(range(len(SPECIAL_TOKENS))):
        raise ValueError(f"{directory}: special tokens have ids {ids}, expected 0 to 3")
    return tokenizer


def prompt_text(question: str) -> str:
    """A question as the chat template renders it, ready for the answer."""
    return f"{USER}{question}{END}{ASSISTANT}"


def encode_prompts(tokenizer: Tokenizer, questions: Sequence[str]) -> list[list[int]]:
    """Token ids of each question's prompt."""
    return [e.ids for e in tokenizer.encode_batch([prompt_text(q) for q in questions])]


def encode_answers(tokenizer: Tokenizer, answers: Sequence[str]) -> list[list[int]]:
    """Token ids of each reference answer, the end token included."""
    return [e.ids for e in tokenizer.encode_batch([text + END for text in answers])]


def _corpus(count: int, seed: int) -> Iterator[str]:
    rng = random.Random(seed)
    for _ in range(count):
        problem = draw(rng, "train")
        yield f"{problem.question}\n{problem.answer_text}"


def build(entries: int, problems: int = 6000, seed: int = 7) -> Tokenizer:
    """Trains a byte-level BPE of `entries` entries on training problems."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(SPLIT_PATTERN), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=entries,
        special_tokens=list(SPECIAL_TOKENS),
        show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )
    tokenizer.train_from_iterator(_corpus(problems, seed), trainer)
    return tokenizer


def tokenizer_config() -> dict[str, object]:
    """The contents of tokenizer_config.json."""
    return {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "pad_token": PAD,
        "eos_token": END,
        "model_max_length": 512,
        "clean_up_tokenization_spaces": False,
        "add_bos_token": False,
        "chat_template": CHAT_TEMPLATE,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--entries", type=int, default=768)
    args = parser.parse_args()
    if (args.out / "model.safetensors").exists():
        parser.error(f"{args.out} holds a trained model: its token ids must not change")
    args.out.mkdir(parents=True, exist_ok=True)
    tokenizer = build(args.entries)
    tokenizer.save(str(args.out / "tokenizer.json"))
    config = json.dumps(tokenizer_config(), indent=1)
    (args.out / "tokenizer_config.json").write_text(config, encoding="utf-8")
    print(f"{tokenizer.get_vocab_size()} entries in {args.out}")


if __name__ == "__main__":
    main()
