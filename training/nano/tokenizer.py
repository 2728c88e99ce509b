"""The nano tokenizer: one token a noun, a number 0-199 or a frame word; byte-pair pieces for the rest of a program.

Built with the `tokenizers` library and stored as an ordinary `tokenizer.json`, so transformers and vLLM open it as
they are. Words and numbers carry their leading space (" lamp", " 7"): the text `class lampEnv` is not written, `
lamp` is, and decoding is lossless.
"""

import re
from collections import Counter
from typing import Iterable, Iterator, Sequence

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

from ...tasks.nano_world import FRAME_WORDS

SPECIALS = ("<pad>", "<eos>", "<D>", "<W>", "<A>", "<mem>", "<good>", "<easy>", "<hard>", "<prog>", "<hint>", "<act>")
SKILL_WORDS = {
    "Mathematical Reasoning": "mathematical",
    "Logical Deduction": "logical",
    "Spatial Reasoning": "spatial",
    "Pattern Recognition": "pattern",
    "Optimization": "optimization",
    "Causal Inference": "causal",
}
NUMBERS = tuple(str(i) for i in range(200))
FUNCTION_WORDS = frozenset(
    "the and for that with was were his her him she they them their this these those there then than from had has"
    " have been not but you your are all any can could did does done down each else ever every few get got how"
    " into its just let like may might more most much must near never nor now off once one only other our out over"
    " own per same shall should since some such too under until upon very via what when where which while who whom"
    " whose why will within without would yet about above after again against also although always among another"
    " because before being below between both during either enough even first here however itself last least less"
    " made make many neither next none often perhaps quite rather said say see still though through thus together"
    " toward two three four five six seven eight nine ten up us use used using well true false return self class"
    " def import random given input output list integer string number numbers values value determine following".split()
)
MERGES = 260
WORD = re.compile(r"[A-Za-z]+|\d+")


def content_words(texts: Iterable[str], forbidden: str, count: int) -> list[str]:
    """The `count` most common content words (lower case, 3-9 letters), none of which starts a word of `forbidden` (the
    code).
    """
    tally = Counter(w for text in texts for w in WORD.findall(text) if w.islower() and w.isalpha() and 3 <= len(w) <= 9)
    taken = set(FUNCTION_WORDS) | set(FRAME_WORDS) | set(SKILL_WORDS.values())
    ranked = sorted((w for w in tally if w not in taken and f" {w}" not in forbidden), key=lambda w: (-tally[w], w))
    return sorted(ranked[:count])


def build(nouns: Sequence[str], programs: Sequence[str]) -> PreTrainedTokenizerFast:
    """The tokenizer over those nouns, with `MERGES` byte-pair merges learned on the programs between their words."""
    words = [*nouns, *dict.fromkeys(FRAME_WORDS), *SKILL_WORDS.values(), *NUMBERS]
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex("\n"), behavior="merged_with_next")
    alphabet = ["\n", *map(chr, range(32, 127))]
    trainer = trainers.BpeTrainer(vocab_size=len(alphabet) + MERGES, initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator(_between_words(programs, words), trainer)
    tokenizer.decoder = decoders.Fuse()
    tokenizer.add_special_tokens(list(SPECIALS))
    tokenizer.add_tokens([AddedToken(f" {word}", normalized=False) for word in words])
    return PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_object=tokenizer,
        pad_token="<pad>",
        eos_token="<eos>",
        clean_up_tokenization_spaces=False,
        model_max_length=512,
    )


def _between_words(programs: Sequence[str], words: Sequence[str]) -> Iterator[str]:
    """The stretches of program text that byte-pair pieces have to cover."""
    hole = re.compile("|".join(f" {re.escape(w)}" for w in sorted(words, key=len, reverse=True)))
    for program in programs:
        yield from hole.split(program)
