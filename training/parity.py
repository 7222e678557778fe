"""Checks that our greedy decoding equals transformers' own, through its chat template.

    python -m training.parity models/small models/large --count 12

Exits with status 1 if any answer differs.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from training.checkpoint import load_model
from training.decode import MAX_NEW_TOKENS, generate
from training.generator import problem_list
from training.tokenizer import encode_prompts, load_tokenizer

PARITY_SEED = 5


def _reference_answer(model: torch.nn.Module, tokenizer: AutoTokenizer, question: str) -> list[int]:
    messages = [{"role": "user", "content": question}]
    inputs = tokenizer.apply_chat_template(
        messages, add_generation_prompt=True, return_tensors="pt", return_dict=True
    )
    prompt_tokens = inputs["input_ids"].shape[1]
    room = model.config.max_position_embeddings - prompt_tokens
    output = model.generate(**inputs, do_sample=False, max_new_tokens=min(MAX_NEW_TOKENS, room))
    return output[0, prompt_tokens:].tolist()


def differing_answers(directory: Path, count: int) -> list[str]:
    """The questions whose greedy answers differ between the two implementations."""
    questions = [p.question for p in problem_list(count, "numbers", PARITY_SEED)]
    prompts = encode_prompts(load_tokenizer(directory), questions)
    ours = generate([load_model(directory)], prompts)
    reference = AutoModelForCausalLM.from_pretrained(directory, dtype=torch.float32)
    tokenizer = AutoTokenizer.from_pretrained(directory)
    return [
        question
        for question, answer in zip(questions, ours, strict=True)
        if answer.tokens != _reference_answer(reference, tokenizer, question)
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("models", type=Path, nargs="+")
    parser.add_argument("--count", type=int, default=12)
    args = parser.parse_args()
    failed = False
    for directory in args.models:
        differing = differing_answers(directory, args.count)
        print(f"{directory}: {args.count - len(differing)} of {args.count} answers equal")
        failed = failed or bool(differing)
    raise SystemExit(1 if failed else 0)


if __name__ == "__main__":
    main()
