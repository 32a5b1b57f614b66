"""Porter's stemmer (M. F. Porter, An algorithm for suffix stripping, Program 14(3), 1980), as published."""

from __future__ import annotations

import re
from functools import cache

VOWEL = "[aeiouy]"
CONSONANTS, VOWELS = "[^aeiou][^aeiouy]*", "[aeiouy][aeiou]*"

# What must be left of a suffix: m > 0, m = 1, m > 1 (m counts the changes from vowels to consonants), or any vowel.
MORE_THAN_0 = re.compile(f"^({CONSONANTS})?{VOWELS}{CONSONANTS}")
EXACTLY_1 = re.compile(f"^({CONSONANTS})?{VOWELS}{CONSONANTS}({VOWELS})?$")
MORE_THAN_1 = re.compile(f"^({CONSONANTS})?{VOWELS}{CONSONANTS}{VOWELS}{CONSONANTS}")
ANY_VOWEL = re.compile(f"^({CONSONANTS})?{VOWEL}")
SHORT = re.compile(f"^{CONSONANTS}{VOWEL}[^aeiouwxy]$")  # consonant, vowel, consonant other than w, x, y

STEP_2 = {
    "ational": "ate", "tional": "tion", "enci": "ence", "anci": "ance", "izer": "ize", "abli": "able", "alli": "al",
    "entli": "ent", "eli": "e", "ousli": "ous", "ization": "ize", "ation": "ate", "ator": "ate", "alism": "al",
    "iveness": "ive", "fulness": "ful", "ousness": "ous", "aliti": "al", "iviti": "ive", "biliti": "ble",
}  # fmt: skip
STEP_3 = {"icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": ""}
STEP_4 = dict.fromkeys(
    ["al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "sion", "tion", "ou", "ism",
     "ate", "iti", "ous", "ive", "ize"], ""
)  # fmt: skip


def _replaced(word: str, suffixes: dict[str, str], condition: re.Pattern[str]) -> str:
    """Replace the longest suffix that fits, if what is left of it meets the condition."""
    for suffix in sorted(suffixes, key=len, reverse=True):
        if word.endswith(suffix):
            stem = word[: -len(suffix)]
            if suffix in ("sion", "tion") and suffixes is STEP_4:
                stem += suffix[0]  # (*S or *T) ION
            return stem + suffixes[suffix] if condition.match(stem) else word
    return word


@cache
def stem(word: str) -> str:
    """The stem of a lower-case word."""
    if len(word) <= 2:
        return word
    # 1a: plurals
    if word.endswith(("sses", "ies")):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith("ss"):
        word = word[:-1]
    # 1b: past tense and participle
    if word.endswith("eed"):
        if MORE_THAN_0.match(word[:-3]):
            word = word[:-1]
    else:
        for suffix in ("ed", "ing"):
            if word.endswith(suffix) and ANY_VOWEL.match(word[: -len(suffix)]):
                word = word[: -len(suffix)]
                if word.endswith(("at", "bl", "iz")):
                    word += "e"
                elif len(word) > 1 and word[-1] == word[-2] and word[-1] not in "aeioulsz":
                    word = word[:-1]
                elif EXACTLY_1.match(word) and SHORT.match(word):
                    word += "e"
                break
    # 1c
    if word.endswith("y") and ANY_VOWEL.match(word[:-1]):
        word = word[:-1] + "i"
    word = _replaced(word, STEP_2, MORE_THAN_0)
    word = _replaced(word, STEP_3, MORE_THAN_0)
    word = _replaced(word, STEP_4, MORE_THAN_1)
    # 5: a final e, and ll
    if word.endswith("e"):
        rest = word[:-1]
        if MORE_THAN_1.match(rest) or (EXACTLY_1.match(rest) and not SHORT.match(rest)):
            word = rest
    if word.endswith("ll") and MORE_THAN_1.match(word[:-1]):
        word = word[:-1]
    return word
