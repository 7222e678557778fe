"""Names, objects and other fillers of the word problems, and the maker of invented names.

Training mixes a short list of known names with invented ones: a model that has seen only a hundred
names recites them instead of copying the name in front of it. The held-out names and objects below
are never used in training; the name maker refuses to produce them by chance.
"""

from __future__ import annotations

import random

TRAIN_NAMES = """
Mia Leo Anna Ben Sara Tom Lily Jack Emma Noah Olivia Liam Ava Ethan Zoe Lucas Maya Owen Ruby Max
Ella Sam Nina Oscar Clara Hugo Alice Felix Rosa Ivan Julia Karl Laura Marco Nora Paul Rita Simon
Tara Victor Wendy Yusuf Amir Bella Carlos Diana Elena Frank Grace Henry Irene James Kate Louis
Maria Nadia Omar Petra Quinn Rachel Sofia Tim Uma Vera Will Xena Yara Zack Aisha Bruno Chloe David
Eva Fiona George Hana Isaac Jade Kofi Lena Mateo Nils Olga Pablo Rania Stefan Tessa Ulla Vito
Wanda Kenji Priya Arjun Mei Chen Dina Emil Fatima Gita Heidi
""".split()

HELD_OUT_NAMES = """
Aaron Beth Cora Dylan Esther Flora Gavin Hazel Igor Jonas Kira Logan Mona Nathan Otis Paula Rufus
Selma Theo Vince Willa Yolanda Zara Abel Bianca Cyrus Daphne Edith Fergus Greta
""".split()

OBJECTS = """
stickers marbles books apples pencils coins cards shells stamps beads buttons cookies oranges
balloons crayons stones flowers eggs candles ribbons toys plums pears nuts cups plates photos badges
tickets peaches
""".split()

HELD_OUT_OBJECTS = "acorns lemons spoons magnets".split()

CONTAINERS = "packs boxes bags jars baskets trays".split()

GOODS = "notebooks sandwiches hats scarves mugs lamps toys puzzles shirts plants".split()

# Openers put before a training sentence now and then. No held-out sentence begins with one of them
# directly followed by a name (see sentences.check_held_out).
OPENERS = (
    "Then|Next|Today|After lunch|On Monday|At noon|In the evening|After school|One day|Last week|"
    "In May|Yesterday|At the market|Again|Later that day|A week later|On the next day|After that|"
    "In spring|Soon"
).split("|")

_SYLLABLES = (
    "ka ko ki lo la li ma mi mo na no ne ra ri ro sa so se ta to ti va vi be bo da di fa fe ga go ha "
    "he ja jo pa pe wa we za"
).split()
_ONSETS = (
    "B C D F G H J K L M N P R S T V W Y Z Br Ch Cl Dr Fl Fr Gr Kr Pr Sh St Th Tr Qu A E I O U"
).split()
_CODAS = ("b c d f g h j k l m n p r s t v w x y z ll nn rr ss tt nd nt lm rl st th ph ck").split()
_VOWELS = "aeiouaeioaey"
_ENDINGS = ("", "", "a", "e", "o", "y", "ia", "us", "ie")

_KNOWN_NAME_SHARE = 0.35
_PATTERN_NAME_SHARE = 0.45
_NEVER_INVENTED = frozenset(HELD_OUT_NAMES) | frozenset(w.capitalize() for w in HELD_OUT_OBJECTS)


def invented_word(rng: random.Random) -> str:
    """A capitalised pronounceable word from consonant and vowel patterns."""
    onset = rng.choice(_ONSETS)
    word = onset if onset[0] not in "AEIOU" else onset + rng.choice(_CODAS)
    for _ in range(rng.choice((1, 1, 2))):
        word += rng.choice(_VOWELS) + rng.choice(_CODAS)
    return word + rng.choice(_ENDINGS)


def _syllable_name(rng: random.Random) -> str:
    count = rng.choice((2, 2, 3))
    return "".join(rng.choice(_SYLLABLES) for _ in range(count)).capitalize()


def train_name(rng: random.Random) -> str:
    """A name for a training problem: known (35 %), invented (45 %) or made of syllables (20 %)."""
    while True:
        kind = rng.random()
        if kind < _KNOWN_NAME_SHARE:
            name = rng.choice(TRAIN_NAMES)
        elif kind < _KNOWN_NAME_SHARE + _PATTERN_NAME_SHARE:
            name = invented_word(rng)
        else:
            name = _syllable_name(rng)
        if name not in _NEVER_INVENTED:
            return name


def invented_object(rng: random.Random) -> str:
    """An invented plural noun, never one of the held-out objects."""
    while True:
        noun = invented_word(rng).lower() + "s"
        if noun not in HELD_OUT_OBJECTS:
            return noun
