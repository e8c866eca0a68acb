"""The shipped word lists: sorted, unique, small letters of ASCII where they are no names, and pinned."""

from __future__ import annotations

import json
from bisect import bisect_left
from hashlib import sha256
from pathlib import Path

import pytest
from dia_compiler.pipeline.api import compile
from dia_compiler.types.word_lists import FOLDER, WORD_LISTS, word_list
from helpers.small_specs import found, written

FILES = sorted(path.stem for path in FOLDER.glob("*.txt"))

# Whoever changes a list raises its revision and that of the types which draw from it: instances change with it
PINNED = {
    "adjectives": (1, "4148e70a95b40932455bbcfedcdc219642807e1c3c23c2a2d11068d9cc2cc2c8"),
    "adverbs": (1, "301b41c24700d8535304abd3cf4ad83cbf766f7f53cad7586e95761ab2e50844"),
    "animals": (1, "f933a921edc56c4211680f147565af61105a5fdc77d4b27e1b16544136faf430"),
    "cities": (1, "853914494a5a375a9a48c3dc11eb114ac949164d20008674ae74e986fd854d09"),
    "colours": (1, "65a584431122dfc397f76ba34345fbc3eb5c35df79e46ae01887b48d7bac136e"),
    "first_names_female": (1, "40d59c4e855d3cbd15000274ddf00becf3b2de60dfb9fba36d94341bc6dfc54f"),
    "first_names_male": (1, "46cc086fe83e498140c68775d782cdc916108e9027dfe4c8252ffd2f22bd41b3"),
    "first_names_neutral": (1, "1790b282ebb42aa8d0a0636df611094fa1524eb871278298b8ce09e614866153"),
    "last_names": (1, "213aa8a9b38fa1bb61f3bcf46966b4f82271f718527ce0580dbcc3ab956aa421"),
    "past_intransitive": (1, "9e1b9fd05905c5f8cf9c0d106cebe00134af921975a49de69b0426f02b213a42"),
    "past_transitive": (1, "f69047956645dd08eefe14fd08b75629a4f79f723cfea9b1009bb0d1975f7be4"),
    "people": (1, "7e8902c8bddf044d218e2a97f18585cac6e93003d61e244d7fbc4dbfac5c9483"),
    "places": (1, "04bdf4aab0ff3b132ed859aa17c4870b07ea2807f93cfa2cae36a9c0ad46ef5c"),
    "things": (1, "f1be08d55f2f047b2229f9febe5176489702692ddb07a28e34faf3091efe43ba"),
    "top_level_domains": (1, "70806f1c000ae2df896feb9b21eb5bd64dc4482fe079f0f51b1007b278c1e804"),
    "verbs": (1, "a38728d6952cd3da5bac0f6c120fbe01467af55ba52f4375eca089577c71ec12"),
}

NAMES = {"cities", "first_names_female", "first_names_male", "first_names_neutral", "last_names"}


def test_every_file_is_a_list_and_every_list_a_file_or_made_of_others() -> None:
    assert sorted(name for name, held in WORD_LISTS.items() if not held.parts) == FILES
    assert list(WORD_LISTS) == sorted(WORD_LISTS)
    assert all(part in FILES for held in WORD_LISTS.values() for part in held.parts)


@pytest.mark.parametrize("name", FILES)
def test_a_list_is_what_it_was(name: str) -> None:
    digest = sha256((FOLDER / f"{name}.txt").read_bytes()).hexdigest()
    assert (WORD_LISTS[name].revision, digest) == PINNED[name]


@pytest.mark.parametrize("name", WORD_LISTS)
def test_a_list_is_ascending_without_repeats_in_plain_letters(name: str) -> None:
    words = word_list(name)
    assert list(words) == sorted(set(words)) and len(words) >= 50
    for word in words:
        assert word.isascii() and word.isalpha()
        assert word == (word.capitalize() if name in NAMES else word.lower())


def test_no_word_stands_where_it_would_give_a_sentence_two_readings() -> None:
    nouns = set(word_list("nouns"))
    assert not nouns & set(word_list("adjectives"))
    assert not set(word_list("past_transitive")) & set(word_list("past_intransitive"))
    assert not set(word_list("adverbs")) & (set(word_list("past_transitive")) | set(word_list("past_intransitive")))


SPEC = """\
template: t
title: T
lists: {pets: {words: animals}}
params: {pet: {type: choice, of: "= [pet for pet in unique(pets + people) if length(pet) == 4]"}}
answer: {value: "length([other for other in pets if other < pet])", type: integer}
prompt: "What comes before {{ pet }}?"
"""


def test_expressions_use_the_lists_that_a_spec_names(tmp_path: Path) -> None:
    folder = written(tmp_path / "specs", SPEC, "language: 2\nbenchmark: b\nlists: {people: {words: people}}\n")
    (bundle,) = compile([folder], k=40, out=tmp_path / "out").bundles
    lines = (bundle.path / "answers.jsonl").read_text("utf-8").splitlines()
    animals = (FOLDER / "animals.txt").read_text("utf-8").split()
    for record in map(json.loads, lines):
        pet = record["parameters"]["pet"]
        assert len(pet) == 4 and record["text"] == str(bisect_left(animals, pet))
    assert json.loads((bundle.path / "manifest.json").read_bytes())["word_lists"] == {"animals": 1, "people": 1}


def test_an_unknown_list_is_reported_at_its_place(tmp_path: Path) -> None:
    error = found(tmp_path, SPEC.replace("words: animals", "words: animal"))[0]
    assert (error.code, str(error.position)[-4:], error.help) == ("E303", "3:23", "did you mean `animals`?")


def test_the_genders_of_first_names_have_no_name_in_common() -> None:
    lists = [word_list(f"first_names_{gender}") for gender in ("female", "male", "neutral")]
    assert len({name for names in lists for name in names}) == sum(map(len, lists))


def test_the_first_letter_says_which_article_a_word_takes() -> None:
    misleading = ("eu", "ew", "heir", "hones", "honou", "hour", "one", "ubi", "uni", "use", "usu", "ute", "uti")
    spoken = [*word_list("nouns"), *word_list("adjectives")]
    assert [word for word in spoken if word.startswith(misleading)] == []
