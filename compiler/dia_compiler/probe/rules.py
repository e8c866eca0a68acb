"""Rules that guess an answer from the surface of a prompt, without reading the question."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise, product
from math import log
from typing import Any

from dia_compiler.probe.surface import (
    COUNTS,
    TOKENIZERS,
    Prompt,
    Shape,
    Token,
    after,
    before,
    keywords,
    number_in,
    pattern_of,
)
from dia_compiler.probe.titles import FIELDS, PLACES, ordinal, title_of

PATTERN = " built like an answer"  # said of tokens with the kinds of characters of an answer, in the same order
MOST_COMMON = "most common answer: "  # begins the name of the rule that gives one answer to every question
MOST_KEYWORDS = 120
FEW_ANSWERS = 40  # largest number of distinct answers for which a tree is trained
MOST_NAMED = 3  # counts or words that the title of a rule names: the most important ones
Guess = Callable[[Prompt], str | None]


@dataclass(frozen=True)
class Example:
    """A prompt, its canonical answer, and all accepted texts."""

    prompt: Prompt
    answer: str
    accepted: frozenset[str]


@dataclass(frozen=True)
class Rule:
    """A guess. `title` describes it to users. `name` decides between equally good rules, so it never changes."""

    name: str
    title: str
    guess: Guess

    def is_right(self, example: Example) -> bool:
        """Return whether the guess is an accepted text."""
        guess = self.guess(example.prompt)
        return guess is not None and guess in example.accepted


def commonest(items: Iterable[Hashable]) -> Any:
    """Return the most common item, the first if there are several."""
    return Counter(items).most_common(1)[0][0]


def constant(examples: Sequence[Example]) -> Iterator[Rule]:
    """Yield the most common answer for every question."""
    answer = commonest(example.answer for example in examples)
    yield Rule(f"always `{answer[:40]}`", f"{MOST_COMMON}`{answer[:40]}`", lambda prompt: answer)


# Rules that pick a token

Selector = Callable[[Sequence[Token]], str]


def _nth(place: int) -> Selector:
    return lambda tokens: tokens[place].text if -len(tokens) <= place < len(tokens) else ""


def _by_count(largest: bool) -> Selector:
    def select(tokens: Sequence[Token]) -> str:
        counts = Counter(token.text for token in tokens)
        return (max if largest else min)(counts, key=lambda text: counts[text])

    return select


def _by_size(largest: bool) -> Selector:
    def select(tokens: Sequence[Token]) -> str:
        sized = [(number, token.text) for token in tokens if (number := number_in(token.text)) is not None]
        return (max if largest else min)(sized, key=lambda pair: pair[0])[1] if sized else ""

    return select


def _odd_one(feature: Callable[[str], Hashable]) -> Selector:
    """Return a selector of the only token with its value of a feature."""

    def select(tokens: Sequence[Token]) -> str:
        texts = dict.fromkeys(token.text for token in tokens)
        counts = Counter(map(feature, texts))
        alone = [text for text in texts if counts[feature(text)] == 1]
        return alone[0] if len(alone) == 1 else ""

    return select


FEATURES: Mapping[str, Callable[[str], Hashable]] = {
    "length": len,
    "pattern": pattern_of,
    "first character": lambda text: text[:1],
    "last character": lambda text: text[-1:],
    "number of digits": lambda text: sum(map(str.isdigit, text)),
    "number of capitals": lambda text: sum(map(str.isupper, text)),
    "number of distinct characters": lambda text: len(set(text)),
    "punctuation": lambda text: frozenset(char for char in text if not char.isalnum()),
}


def _extreme(feature: Callable[[str], Any], largest: bool) -> Selector:
    return lambda tokens: (max if largest else min)(tokens, key=lambda token: feature(token.text)).text


SELECTORS: Mapping[str, Selector] = {
    **{f"{place + 1}. {{}}": _nth(place) for place in range(PLACES)},
    **{f"{{}} {place} from the end": _nth(-place) for place in range(1, PLACES + 1)},
    "longest {}": _extreme(len, True),
    "shortest {}": _extreme(len, False),
    "{} with the most distinct characters": _extreme(lambda text: len(set(text)), True),
    "{} with the most digits": _extreme(lambda text: sum(map(str.isdigit, text)), True),
    "{} with the most punctuation": _extreme(lambda text: sum(not char.isalnum() for char in text), True),
    "commonest {}": _by_count(True),
    "rarest {}": _by_count(False),
    "largest {}": _by_size(True),
    "smallest {}": _by_size(False),
    "first {} in the alphabet": lambda tokens: min(tokens).text,
    "last {} in the alphabet": lambda tokens: max(tokens).text,
    **{f"{{}} that differs in {name}": _odd_one(feature) for name, feature in FEATURES.items()},
}


def picked(examples: Sequence[Example]) -> Iterator[Rule]:
    """Yield a token of a kind, of all or of those that look like answers, by its position or by a feature."""
    shape = Shape.of(example.answer for example in examples)
    for kind in TOKENIZERS:
        for looks, fits in filters(shape).items():
            if not can_hold(examples, kind, fits):
                continue
            for name, select in SELECTORS.items():
                selector = title_of(name)
                of_those = ", of those" * (bool(looks) and not selector.endswith("{}"))
                title = selector.format(title_of(kind)) + of_those + title_of(looks)
                yield Rule(name.format(kind) + looks, title, _picking(kind, fits, select))


def filters(shape: Shape) -> dict[str, Callable[[str], bool]]:
    """Return the filters for tokens of a kind, by name."""
    return {
        "": lambda text: True,
        " of an answer's length and characters": shape.has_length,
        PATTERN: shape.has_pattern,
    }


def can_hold(examples: Sequence[Example], kind: str, fits: Callable[[str], bool]) -> bool:
    """Return whether tokens of a kind contain the answer often enough for a rule to select it."""
    few = examples[:40]
    holds = (any(fits(token.text) and token.text in one.accepted for token in one.prompt.tokens(kind)) for one in few)
    return 5 * sum(holds) >= len(few)


def fitting(prompt: Prompt, kind: str, fits: Callable[[str], bool]) -> list[Token]:
    """Return the tokens of a kind that pass a filter."""
    key = kind, fits
    if key not in prompt.memory:
        prompt.memory[key] = [token for token in prompt.tokens(kind) if fits(token.text)]
    tokens: list[Token] = prompt.memory[key]
    return tokens


def _picking(kind: str, fits: Callable[[str], bool], select: Selector) -> Guess:
    def guess(prompt: Prompt) -> str | None:
        tokens = fitting(prompt, kind, fits)
        return select(tokens) if tokens else None

    return guess


def beside_keywords(examples: Sequence[Example]) -> Iterator[Rule]:
    """Yield the token that looks like an answer next to something that all prompts have."""
    fits = Shape.of(example.answer for example in examples).has_pattern
    kinds = [kind for kind in TOKENIZERS if can_hold(examples, kind, fits)]
    for word in keywords([example.prompt for example in examples], MOST_KEYWORDS):
        for kind, is_last, is_after in product(kinds, (False, True), (False, True)):
            side = "after" if is_after else "before"
            where = f"{side} the {'last' if is_last else 'first'} `{word[:40]}`"
            title = f"nearest {title_of(kind)} {where}, of those{title_of(PATTERN)}"
            yield Rule(f"{kind}{PATTERN} {where}", title, _beside(word, kind, fits, is_last, is_after))


def _beside(word: str, kind: str, fits: Callable[[str], bool], is_last: bool, is_after: bool) -> Guess:
    def guess(prompt: Prompt) -> str | None:
        place = prompt.text.rfind(word) if is_last else prompt.text.find(word)
        if place < 0:
            return None
        tokens = fitting(prompt, kind, fits)
        token = after(tokens, place + len(word)) if is_after else before(tokens, place)
        return token.text if token else None

    return guess


# A rule that weighs the context of each token that looks like an answer

AROUND = 3  # lines before and after, and words before and after, in a context
FEWEST_TIMES = 5  # prompts in which a feature must occur to be weighed
WEIGHT_OF_ONE = 0.5  # added to each count (smoothing), so that nothing is impossible


def neighbours(examples: Sequence[Example]) -> Iterator[Rule]:
    """Yield the token whose context is most like that of answers, by naive Bayes over words and lines nearby."""
    shape = Shape.of(example.answer for example in examples)
    for kind in ("token", "quoted text", "number"):
        for looks, fits in filters(shape).items():
            if looks and can_hold(examples, kind, fits):
                title = f"naive Bayes on the context of each {title_of(kind)}{title_of(looks)}"
                name = f"the {kind}{looks} with the surroundings of an answer"
                yield Rule(name, title, _weighing(examples, kind, fits))


def surroundings(prompt: Prompt, kind: str, fits: Callable[[str], bool]) -> dict[str, set[str]]:
    """Return the context of each different token that fits: lines, words, and how often it appears."""
    key = "surroundings", kind, fits
    if key not in prompt.memory:
        around: dict[str, set[str]] = {}
        times = Counter(token.text for token in fitting(prompt, kind, fits))
        lines = prompt.text.splitlines()
        starts = list(accumulate((len(line) + 1 for line in lines), initial=0))
        for token in fitting(prompt, kind, fits):
            number = bisect_right(starts, token.start) - 1
            column = token.start - starts[number]
            before_it, after_it = lines[number][:column].split(), lines[number][column + len(token.text) :].split()
            features = around.setdefault(token.text, {f"{min(times[token.text], 4)} times"})
            features.update(f"word {place}: {word}" for place, word in enumerate(reversed(before_it[-AROUND:])))
            features.update(f"word -{place}: {word}" for place, word in enumerate(after_it[:AROUND]))
            for place in (*range(max(0, number - AROUND), number), *range(number + 1, number + 1 + AROUND)):
                if place < len(lines):
                    features.add(f"line {place - number}: {lines[place].strip()}")
        prompt.memory[key] = around
    result: dict[str, set[str]] = prompt.memory[key]
    return result


def _weighing(examples: Sequence[Example], kind: str, fits: Callable[[str], bool]) -> Guess:
    right, wrong = Counter[str](), Counter[str]()
    sizes = [0, 0]
    for example in examples:
        for text, features in surroundings(example.prompt, kind, fits).items():
            is_right = text in example.accepted
            (right if is_right else wrong).update(features)
            sizes[is_right] += 1
    weights = {
        feature: log((right[feature] + WEIGHT_OF_ONE) / (sizes[1] + 1))
        - log((wrong[feature] + WEIGHT_OF_ONE) / (sizes[0] + 1))
        for feature in {*right, *wrong}
        if right[feature] + wrong[feature] >= FEWEST_TIMES
    }

    def guess(prompt: Prompt) -> str | None:
        around = surroundings(prompt, kind, fits)
        if not around:
            return None
        return max(around, key=lambda text: sum(weights.get(feature, 0.0) for feature in sorted(around[text])))

    return guess


# Rules that pick a line, and give a field of it or its number


def _field_number(place: int) -> Callable[[str, list[str]], Any]:
    return lambda line, fields: number_in(fields[place]) if place < len(fields) else None


def _field_length(place: int) -> Callable[[str, list[str]], Any]:
    return lambda line, fields: len(fields[place]) if place < len(fields) else None


MEASURES: Mapping[str, Callable[[str, list[str]], Any]] = {
    "length": lambda line, fields: len(line),
    "number of fields": lambda line, fields: len(fields),
    "number of digits": lambda line, fields: sum(map(str.isdigit, line)),
    "amount of punctuation": lambda line, fields: sum(not char.isalnum() for char in line),
    "length of its longest field": lambda line, fields: max(map(len, fields)),
    **{f"number in field {place + 1}": _field_number(place) for place in range(FIELDS)},
    **{f"length of field {place + 1}": _field_length(place) for place in range(FIELDS)},
}


def _extreme_line(measure: Callable[[str, list[str]], Any], largest: bool) -> Callable[[Prompt], int | None]:
    def choose(prompt: Prompt) -> int | None:
        sized = [
            (size, number)
            for number, (line, fields) in enumerate(zip(prompt.lines, prompt.rows, strict=True))
            if (size := measure(line, fields)) is not None
        ]
        if len(sized) < 2:
            return None
        return (max if largest else min)(sized, key=lambda pair: pair[0])[1]

    return choose


def _odd_line(place: int) -> Callable[[Prompt], int | None]:
    """Choose the line whose field at a position differs from all others, which are equal."""

    def choose(prompt: Prompt) -> int | None:
        values = [(fields[place], number) for number, fields in enumerate(prompt.rows) if place < len(fields)]
        counts = Counter(value for value, _ in values)
        alone = [number for value, number in values if counts[value] == 1]
        return alone[0] if len(alone) == 1 and len(values) > 2 else None

    return choose


LINES: Mapping[str, Callable[[Prompt], int | None]] = {
    **{f"the line with the largest {name}": _extreme_line(measure, True) for name, measure in MEASURES.items()},
    **{f"the line with the smallest {name}": _extreme_line(measure, False) for name, measure in MEASURES.items()},
    **{f"the line that differs in field {place + 1}": _odd_line(place) for place in range(FIELDS)},
}


def lines(examples: Sequence[Example]) -> Iterator[Rule]:
    """Yield a field of a line that stands out, or the line's number."""
    if not any(len(example.prompt.lines) > 2 for example in examples):
        return
    for name, choose in LINES.items():
        for place in (*range(6), -1, -2, -3):
            where = f"field {place + 1}" if place >= 0 else f"field {-place} from the end"
            title = where if place >= 0 else f"the {ordinal(place)} field"
            yield Rule(f"{where} of {name}", f"{title} of {title_of(name)}", _field_of(choose, place))
        for first in (-1, 0, 1):
            start, has_head = max(first, 0), first < 0
            rule_name = f"the number of {name}, {'without the head, ' * has_head}counted from {start}"
            title = f"index (from {start}{', after the header' * has_head}) of {title_of(name)}"
            yield Rule(rule_name, title, _number_of(choose, first))


def _chosen(prompt: Prompt, choose: Callable[[Prompt], int | None]) -> int | None:
    if choose not in prompt.memory:
        prompt.memory[choose] = choose(prompt)
    number: int | None = prompt.memory[choose]
    return number


def _field_of(choose: Callable[[Prompt], int | None], place: int) -> Guess:
    def guess(prompt: Prompt) -> str | None:
        number = _chosen(prompt, choose)
        if number is None:
            return None
        fields = prompt.rows[number]
        return fields[place] if -len(fields) <= place < len(fields) else None

    return guess


def _number_of(choose: Callable[[Prompt], int | None], first: int) -> Guess:
    def guess(prompt: Prompt) -> str | None:
        number = _chosen(prompt, choose)
        return None if number is None else str(number + first)

    return guess


# A rule that counts


def trees(examples: Sequence[Example]) -> Iterator[Rule]:
    """Shallow decision trees over counts, if there are few answers; needs scikit-learn."""
    answers = [example.answer for example in examples]
    if not 2 <= len(set(answers)) <= min(FEW_ANSWERS, len(answers) // 4):
        return
    try:
        from sklearn.tree import DecisionTreeClassifier
    except ImportError:
        return
    table = [example.prompt.counts for example in examples]
    for depth in (2, 4, 6):
        tree = DecisionTreeClassifier(max_depth=depth, min_samples_leaf=4, random_state=0).fit(table, answers)
        names = list(COUNTS)
        used = sorted({names[place] for place in tree.tree_.feature if place >= 0})
        ranked = sorted(used, key=lambda name: -tree.feature_importances_[names.index(name)])
        features = ", ".join(title_of(name) for name in ranked[:MOST_NAMED]) or "nothing"
        title = f"decision tree of depth {depth}, mainly on {features}"
        yield Rule(f"a tree of depth {depth} over {', '.join(used) or 'nothing'}", title, _growing(tree))


def _growing(tree: Any) -> Guess:
    return lambda prompt: str(tree.predict([prompt.counts])[0])


# Rules that decide between a few labels


def words(examples: Sequence[Example]) -> Iterator[Rule]:
    """Yield a rule for each word and pair of adjacent words of some prompts, and naive Bayes over all of them."""
    labels = sorted({example.answer for example in examples})
    if len(labels) != 2:
        return
    features = [_words_and_pairs(example.prompt) for example in examples]
    totals = Counter(example.answer for example in examples)
    with_label = {label: Counter[str]() for label in labels}
    for example, present in zip(examples, features, strict=True):
        with_label[example.answer].update(present)
    shares = {
        word: [(with_label[label][word] + 0.5) / (totals[label] + 1) for label in labels]
        for word in sorted({word for counts in with_label.values() for word in counts})
        if sum(counts[word] for counts in with_label.values()) >= FEWEST_TIMES
    }
    for word, (first, second) in shares.items():
        one, other = labels if first > second else reversed(labels)
        title = f"`{one}` if the prompt contains `{word[:40]}`"
        yield Rule(f"`{one}` if it has `{word[:40]}`", title, _by_presence(word, one, other))
    base = log((totals[labels[0]] + 0.5) / (totals[labels[1]] + 0.5))
    weights = {word: (log(first / second), log((1 - first) / (1 - second))) for word, (first, second) in shares.items()}

    def guess(prompt: Prompt) -> str:
        present = _words_and_pairs(prompt)
        score = base + sum(pair[word not in present] for word, pair in weights.items())
        return labels[0] if score > 0 else labels[1]

    strongest = sorted(shares, key=lambda word: abs(shares[word][0] - shares[word][1]), reverse=True)[:MOST_NAMED]
    named = ", ".join(f"`{word[:40]}`" for word in strongest)
    yield Rule("naive Bayes over its words", f"naive Bayes on words and adjacent words, mainly {named}", guess)


def _words_and_pairs(prompt: Prompt) -> frozenset[str]:
    if _words_and_pairs not in prompt.memory:
        tokens = [token.text for token in prompt.tokens("word")]
        pairs = (f"{one} {other}" for one, other in pairwise(tokens))
        prompt.memory[_words_and_pairs] = frozenset([*tokens, *pairs])
    present: frozenset[str] = prompt.memory[_words_and_pairs]
    return present


def _by_presence(word: str, present: str, absent: str) -> Guess:
    return lambda prompt: present if word in _words_and_pairs(prompt) else absent


Learner = Callable[[Sequence[Example]], Iterator[Rule]]
LEARNERS: tuple[Learner, ...] = (constant, picked, beside_keywords, neighbours, lines, trees)
DECIDERS: tuple[Learner, ...] = (constant, words, trees)  # whether a question is unanswerable
