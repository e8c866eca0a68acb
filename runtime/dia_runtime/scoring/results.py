"""The types of what `dia score --json` prints and `dia_runtime.score` returns; the schema is generated from them.

A text next to a type is its description in the schema, and `Keywords` are added to it. Blocks also have a key for each
figure of the registry and each label; read them with `figure_of` and `groups_by`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, NotRequired, TypeAlias, TypedDict, cast

from dia_language.json_schema import Keywords
from dia_runtime.formats.base import STANDARD, effective_chain
from dia_runtime.store.error_causes import Cause
from dia_runtime.store.schema import ModelVersion, RequestChange

Count: TypeAlias = Annotated[int, Keywords(minimum=0)]
Share: TypeAlias = Annotated[float, Keywords(minimum=0, maximum=1)]
Ends: TypeAlias = Annotated[list[float], Keywords(minItems=2, maxItems=2)]
TWO = Keywords(minItems=2, maxItems=2)
ALPHA = 0.05  # significance level of comparisons
TwoModels: TypeAlias = Annotated[
    list[str], TWO, "Names of two respondents, as in `model`; the run is added if several have the same name."
]
TwoPlaces: TypeAlias = Annotated[list[Count], TWO, "Indices of the two in `models`."]
Digest: TypeAlias = Annotated[str, Keywords(pattern="^[0-9a-f]{64}$")]


class Estimate(TypedDict):
    """A figure with its uncertainty."""

    value: Annotated[float | None, "null while errors leave it undetermined."]
    se: Annotated[float | None, "Standard error with items as clusters; null with fewer than two items."]
    ci: Annotated[Ends | None, "95 % confidence interval, from resampled items; null if there is none."]
    interval: NotRequired[
        Annotated[
            Literal["bound"], "The method of `ci`, if resamples say too little: few items differ from an extreme."
        ]
    ]
    bounds: NotRequired[Annotated[Ends, "Lowest and highest possible value while errors remain."]]


def unknown() -> Estimate:
    """Return an estimate without a value."""
    return {"value": None, "se": None, "ci": None}


class Block(TypedDict):
    """Counts for some questions of a respondent, together with the figures of the registry."""

    n: Annotated[Count, "Items with a reply."]
    counts: Annotated[dict[str, Count], "Questions by verdict."]
    flags: Annotated[dict[str, Count], "Questions by flag; a question has a verdict as well."]
    completely_skipped: Annotated[Count, "Items with all instances skipped."]
    partly_skipped: Annotated[Count, "Items with some, but not all, instances skipped."]


def figure_of(block: Block, name: str) -> Estimate:
    """Return the figure of that name, without a value if the block lacks it."""
    return cast(Mapping[str, Estimate], block).get(name) or unknown()


def has_figure(block: Block, name: str) -> bool:
    """Return whether the block has the figure; only questions with partial credit have the figure of marks."""
    return name in block


class CurvePoint(TypedDict):
    """A point of a risk-coverage curve."""

    confidence: Annotated[Share, "The lowest confidence of the questions up to this point."]
    coverage: Annotated[Share, "Share of all questions answered up to this point."]
    risk: Annotated[Share, "Share of these that are wrong or unparsed."]


class Penalty(TypedDict):
    """The points for answering with a given penalty for wrong answers."""

    penalty: Annotated[float, "Points that a wrong answer costs."]
    threshold: Annotated[
        Share,
        "penalty / (1 + penalty): the probability of a correct answer above which answering an answerable question "
        "pays.",
    ]
    points: Annotated[Estimate, "Mean points of a question."]
    pays: Annotated[
        bool | None,
        "Whether the mean points exceed those of always abstaining: 0, or the share of unanswerable questions; null "
        "without answers.",
    ]


class Selective(TypedDict):
    """Selective prediction: the effect of abstaining."""

    signal: Annotated[
        Literal["answered", "agreement"],
        "What orders the answered questions by confidence: the number of the item's other instances that were "
        "answered; with `--over attempts`, the number of other attempts with the same answer.",
    ]
    coverage: Estimate
    accuracy: Annotated[Estimate, "Share of correct replies among those not skipped."]
    curve: Annotated[
        list[CurvePoint],
        "From the most to the least confident: the share of all questions answered so far, and the share of these "
        "that are wrong or unparsed.",
    ]
    aurc: Annotated[Estimate, "Area under the curve: the mean risk over all coverages up to the highest."]
    aurc_best: Annotated[Estimate, "The same if every correct reply were more confident than every wrong one."]
    excess: Annotated[Estimate, "aurc minus aurc_best."]
    rs_best: Annotated[
        Estimate, "RS@k with perfect abstention, that is with an abstention instead of every reply that is not correct."
    ]
    rs_lost: Annotated[Estimate, "rs_best minus rs."]
    idk_best: Annotated[Estimate, "idk_score with perfect abstention."]
    idk_lost: Annotated[Estimate, "idk_best minus idk_score."]
    penalties: Annotated[list[Penalty], "For points +1, 0 and -penalty: the mean points, and whether answering pays."]


class Explained(TypedDict):
    """Wrong replies by the number of named mistakes that explain them."""

    wrong: Annotated[Count, "Wrong replies, including variants."]
    one: Annotated[Count, "Wrong replies explained by exactly one named mistake."]
    several: Annotated[Count, "Wrong replies explained by several named mistakes."]
    none: Annotated[Count, "Wrong replies without explanation; one + several + none = wrong."]


class Mistake(TypedDict):
    """The frequency of a named mistake among a template's wrong replies."""

    count: Annotated[Count, "Wrong replies that this mistake explains."]
    share: Annotated[Estimate, "Share of the template's wrong replies; Wilson's interval over its replies."]


class TemplateMistakes(Explained):
    """The mistakes of one template."""

    mistakes: Annotated[dict[str, Mistake], "Named mistake -> its frequency."]


class MistakeShares(Explained):
    """The mistakes of all templates."""

    explained: Annotated[Estimate, "Share of the wrong replies explained by a named mistake."]
    templates: Annotated[dict[str, TemplateMistakes], "Template -> its mistakes."]


class FigureEffect(TypedDict):
    """A figure in two wordings of the same instances."""

    base: Annotated[float | None, "The figure in the base wording."]
    variant: Annotated[float | None, "The figure in the variant."]
    difference: Annotated[Estimate, "Variant minus base."]
    p: Annotated[Share | None, "Two-sided p-value of the difference; null if there is none."]


class VariantEffect(TypedDict):
    """The effect of another wording."""

    items: Annotated[Count, "Items with replies in both wordings."]
    questions: Annotated[Count, "Instances with replies in both wordings."]
    figures: Annotated[dict[str, FigureEffect], "Figure -> its values in the two wordings."]


class Correlation(TypedDict):
    """A correlation with its interval."""

    n: Annotated[Count, "Pairs of values."]
    r: Annotated[
        float | None,
        Keywords(minimum=-1, maximum=1),
        "null with fewer than four pairs, or if one side does not vary.",
    ]
    ci: Annotated[Ends | None, "95 % interval by Fisher's z; null if r is -1 or 1."]


class SessionCounts(TypedDict):
    """Outcomes of session questions."""

    valid: Annotated[Count, "Questions whose replies could all be read."]
    unread: Annotated[Count, "Questions with a reply that could not be read."]
    absent: Annotated[Count, "Questions with a missing reply."]
    broken: Annotated[Count, "Questions that could not be graded, because grading failed on the replies."]
    error: Annotated[Count, "Questions that ended in an error; a retry may succeed."]
    of: Annotated[dict[str, dict[str, Count]], "Reply -> number of questions in which it is missing, by state."]


class ByDenominator(TypedDict):
    """An accuracy by its denominators."""

    all: Annotated[Estimate, "Over every decision or question."]
    answered: Annotated[Estimate, "Over those with all replies."]
    valid: Annotated[Estimate, "Over those whose replies could be read, without skipped questions."]


class PrintedFigure(TypedDict):
    """The accuracy that a study reports."""

    study: Annotated[str, "The study, as in `presets`."]
    figure: Annotated[str, "Its name in `published`."]
    over: Annotated[
        str,
        Keywords(enum=["written", "all", "valid"]),
        "Its denominator: the keys that the model wrote, all questions, or the valid ones as in the study.",
    ]
    value: Annotated[float | None, "The accuracy; null if it is undefined."]


class DeclaredFigure(TypedDict):
    """The value of a figure that a template declares."""

    value: Annotated[float | None, "null while errors leave it undetermined."]
    se: NotRequired[Annotated[float | None, "Standard error with items as clusters."]]
    ci: NotRequired[Annotated[list[float] | None, "95 % confidence interval."]]
    bounds: NotRequired[Annotated[Ends, "Lowest and highest possible value while errors remain."]]
    of: NotRequired[Annotated[Count, "Questions that count."]]
    steps: NotRequired[Annotated[list[float], "Share of questions without the event up to each step."]]


class DecisionCounts(TypedDict):
    """Known decisions by prediction and outcome."""

    tp: Annotated[Count, "True positives: predicted and actual."]
    fp: Annotated[Count, "False positives: predicted, not actual."]
    fn: Annotated[Count, "False negatives: actual, not predicted."]
    tn: Annotated[Count, "True negatives: neither."]


class Denominators(TypedDict):
    """The number of decisions for each denominator."""

    all: Annotated[Count, "All decisions."]
    answered: Annotated[Count, "Those with all replies."]
    valid: Annotated[Count, "Those whose replies could be read."]


class Baselines(TypedDict):
    """The accuracy of constant predictions."""

    always: Annotated[float | None, "Accuracy of always predicting the positive class."]
    never: Annotated[float | None, "Accuracy of never predicting it."]


class SessionBlock(TypedDict):
    """Figures of a template of sessions.

    all: every decision or question; answered: those with all replies; valid: those whose replies could be read.
    """

    truth: Annotated[
        str, Keywords(enum=["grade", "decisions", "ranking"]), "The key of the template that determines the verdict."
    ]
    questions: Annotated[Count, "Questions of the template."]
    ledger: Annotated[
        SessionCounts,
        "Outcomes of the questions; the five numbers add up to `questions`.",
    ]
    accuracy: Annotated[ByDenominator, "Share of correct decisions, rankings or questions."]
    recorded: Annotated[Count, "Questions with values from a log that lacks the texts of the replies."]
    positive: NotRequired[Annotated[str | None, "Name of the positive class."]]
    counts: NotRequired[Annotated[DecisionCounts, "Known decisions."]]
    units: NotRequired[Annotated[Denominators, "Decisions by denominator."]]
    baselines: NotRequired[Annotated[Baselines, "Accuracy of always, or never, predicting the positive class."]]
    macro_accuracy: NotRequired[Annotated[Estimate, "Mean over questions of the share of known decisions that agree."]]
    recall: NotRequired[Annotated[Estimate, "TP / (TP + FN)."]]
    precision: NotRequired[Annotated[Estimate, "TP / (TP + FP)."]]
    positive_rate: NotRequired[Annotated[Estimate, "(TP + FP) / known."]]
    f1: NotRequired[Annotated[Estimate, "2 TP / (2 TP + FP + FN)."]]
    over_niceness: NotRequired[Annotated[Estimate, "FN / (FN + FP)."]]
    exact: NotRequired[Annotated[Estimate, "Share of valid rankings in exactly the right order."]]
    tokens: NotRequired[Annotated[Estimate, "Mean completion tokens per question, for the subject."]]
    rank_correlations: NotRequired[
        Annotated[
            dict[str, Correlation],
            "`tokens` and declared numbers -> Spearman's correlation with agreement, over the items whose questions "
            "are valid.",
        ]
    ]
    paper: NotRequired[
        Annotated[
            PrintedFigure | None,
            "The accuracy that the study reports, with `--preset`; null if it reports none.",
        ]
    ]
    figures: NotRequired[Annotated[dict[str, DeclaredFigure], "Declared figure -> its value."]]


def session_figure(block: SessionBlock, name: str) -> Estimate | None:
    """Return a figure of sessions that only some kinds of truth have."""
    return cast(Mapping[str, Estimate], block).get(name)


class Composite(TypedDict):
    """The mean of several accuracies."""

    value: Annotated[float, "The mean."]
    se: Annotated[float | None, "null if a template has none."]
    ci: Annotated[Ends | None, "±1.96 standard errors, within 0 and 1."]
    over: Annotated[str, Keywords(const="all"), "The denominator of the accuracies."]
    of: Annotated[dict[str, float], "Template -> its accuracy."]


class Ability(TypedDict):
    """A value on the scale of a bank."""

    value: Annotated[float, "In logits."]
    se: Annotated[float | None, "Its standard error."]


Published: TypeAlias = dict[str, dict[str, Any]]  # study -> its figures, under the names that its recordings use


class SessionFigures(TypedDict, total=False):
    """The figures of questions that are sessions."""

    sessions: NotRequired[
        Annotated[dict[str, SessionBlock], "Template -> its figures, for questions that are sessions."]
    ]
    composite: NotRequired[
        Annotated[
            Composite | None,
            "Mean of the accuracies of association, restriction and difficulty if all of them exist, otherwise of all "
            "templates of sessions; null if none has an accuracy.",
        ]
    ]
    published: NotRequired[
        Annotated[
            Published,
            "Study -> its figures, under the names in its recordings, with `--preset`.",
        ]
    ]


class Respondent(Block, SessionFigures):
    """The figures of a respondent, or of several as one."""

    model: Annotated[str, "Name of the respondent."]
    missing: Annotated[Count, "Questions that were never asked, variants not included; no figure counts them."]
    error_causes: Annotated[list[Cause], "Why questions have no reply: causes with their number and an example."]
    pass_at_j: Annotated[
        dict[str, Estimate],
        "j -> Pass@j, a share: the probability that at least one of j instances of an item is correct.",
    ]
    pass_hat_j: Annotated[
        dict[str, Estimate], "j -> Pass^j, a share: the probability that all of j instances are correct."
    ]
    tsr: Annotated[dict[str, Count], "Item -> its correct instances."]
    other_k: NotRequired[
        Annotated[
            dict[str, Annotated[int, Keywords(minimum=1)]],
            "Item -> its number of instances, if that is not `k`: items differ, or some were not asked.",
        ]
    ]
    mistakes: Annotated[dict[str, dict[str, Share]], "Template -> mistake -> share of the template's wrong replies."]
    mistake_shares: Annotated[MistakeShares, "How many wrong replies the named mistakes explain."]
    selective: Annotated[Selective, "Selective prediction: the effect of abstaining."]
    variants: Annotated[dict[str, VariantEffect], "Variant -> its paired effect on the same instances."]


class Used(TypedDict):
    """A sum over the replies that report the number."""

    total: Annotated[float | None, Keywords(minimum=0), "The sum; null if no reply reports the number."]
    unknown: Annotated[Count, "Number of replies that do not report it; the sum leaves them out."]


class Money(TypedDict):
    """A sum in US dollars over the replies whose cost is known."""

    total: Annotated[str | None, "US dollars as decimal text; null if no cost is known."]
    unknown: Annotated[Count, "Number of replies whose cost is unknown; the sum leaves them out."]


class Usage(TypedDict):
    """What the graded replies used: tokens, time and money. Those of other roles, such as a judge, are not included."""

    replies: Annotated[Count, "Number of replies without errors, including those to variants."]
    correct: Annotated[Count, "How many of them are correct."]
    prompt_tokens: Annotated[Used, "Tokens of the prompts."]
    completion_tokens: Annotated[Used, "Tokens of the replies."]
    reasoning_tokens: Annotated[Used, "Part of `completion_tokens`."]
    seconds: Annotated[Used, "Time from the requests to the replies; parallel requests add up."]
    cost: Annotated[Money, "Cost of the replies."]
    cost_per_correct: Annotated[
        str | None, "US dollars for each correct answer; null if a cost is unknown or no answer is correct."
    ]


class LeftOutQuestions(TypedDict):
    """Questions that could not be asked, and why."""

    why: Annotated[str, "The reason."]
    questions: Annotated[Count, "Number of questions."]


class Model(Respondent):
    """The figures of one respondent."""

    run: Annotated[str, "The run's file."]
    left_out: Annotated[
        list[LeftOutQuestions],
        "Questions that could not be asked, variants not included, by reason, for example because the model does not "
        "accept their attachments. They are part of `missing`.",
    ]
    request_changes: Annotated[
        list[RequestChange],
        "What a client library changed in the requests, such as `max_tokens`, with the numbers of replies.",
    ]
    model_versions: NotRequired[
        Annotated[list[ModelVersion], "The models that the provider says it asked, with the numbers of replies."]
    ]
    replies_with_tool_calls: NotRequired[
        Annotated[Count, "Number of replies before which the model called a tool, for a model with tools."]
    ]
    usage: NotRequired[Annotated[Usage, "Tokens, seconds and cost of the graded replies."]]
    labels: Annotated[dict[str, str], "The respondent's labels in the file of `--labels`."]
    ability: NotRequired[
        Annotated[
            Ability | None, "The model's ability in logits, with `--bank`; null if the bank does not have the model."
        ]
    ]


class Ensemble(Respondent):
    """The figures of all respondents as one."""

    members: Annotated[list[str], "The models that vote."]
    votes: Annotated[str, Keywords(enum=["vote", "outcomes"]), "Whether answers or verdicts are counted."]
    ties: Annotated[str, Keywords(enum=["skip", "first", "wrong"]), "What a tie of the votes counts as."]
    skips: Annotated[str, Keywords(enum=["count", "ignore"]), "Whether abstentions vote."]


def groups_by(respondent: Respondent, label: str) -> Mapping[str, Block]:
    """Return the figures by the values of a label; empty if the score has no groups by it."""
    return cast(Mapping[str, Mapping[str, Block]], respondent).get(f"by_{label}", {})


class Difference(TypedDict):
    """A difference of two figures, and its significance."""

    difference: Annotated[Estimate, "The first minus the second, on the same questions."]
    p: Annotated[
        Share | None,
        "Two-sided p-value, from Student's t with the items as clusters; null if the difference has no standard error.",
    ]
    order: Annotated[Share | None, "Share of resamples with the same order of the two as measured."]


class Tested(Difference):
    """One of several tested differences."""

    p_holm: Annotated[Share | None, "The same with Holm's correction over all pairs for this figure."]


class ComparedPair(Tested):
    """Two respondents by one figure."""

    figure: Annotated[str, "Name of the figure."]
    models: TwoModels
    at: TwoPlaces
    items: Annotated[Count, "Items with questions that both answered or skipped."]
    questions: Annotated[Count, "Questions that both answered or skipped."]
    values: Annotated[
        list[float | None], TWO, "The two figures on these questions; null while errors leave one undetermined."
    ]


class ToolEffect(ComparedPair):
    """The effect of tools on a model by one figure: with tools minus without."""

    category: Annotated[str | None, "null over all items."]
    errors: Annotated[list[Count], TWO, "Questions that ended in an error, with tools and without."]


class RankRow(TypedDict):
    """A respondent's rank by two figures."""

    model: Annotated[str, "Name of the respondent."]
    at: Annotated[Count, "Its index in `models`."]
    ranks: Annotated[
        list[Annotated[int | None, Keywords(minimum=1)]],
        TWO,
        "Rank by the first and by the second figure, starting at 1; equal values share the better rank.",
    ]


class RankReversal(TypedDict):
    """Two respondents that two figures rank in opposite orders."""

    models: Annotated[list[str], TWO, "The one that leads by the first figure, then the one that leads by the second."]
    at: TwoPlaces
    order: Annotated[list[Share | None], TWO, "Share of resamples in which the order by each figure holds."]
    both: Annotated[Share | None, "Share of resamples in which both orders hold."]


class RankChange(TypedDict):
    """The differences between the rankings by two figures."""

    figures: Annotated[list[str], TWO, "The two figures."]
    ranks: Annotated[list[RankRow], "The ranks of each respondent."]
    changes: Annotated[list[RankReversal], "Pairs that the two figures rank in opposite orders."]


class SkipAgreement(TypedDict):
    """Whether two respondents skip the same questions."""

    models: TwoModels
    at: TwoPlaces
    items: Annotated[Count, "Items with questions to which both replied."]
    both: Annotated[Count, "Questions that both skipped."]
    first: Annotated[Count, "Questions that only the first skipped."]
    second: Annotated[Count, "Questions that only the second skipped."]
    neither: Annotated[Count, "Questions that neither skipped."]
    phi: Annotated[Estimate, "Correlation of the skips of the two; the interval resamples items."]


class RespondentGroup(TypedDict):
    """Respondents with the same value of a label."""

    value: Annotated[str, "The label's value; `none` for respondents without one."]
    models: Annotated[list[str], "Names of the respondents."]
    at: Annotated[list[Count], "Their indices in `models`."]
    figures: Annotated[
        dict[str, Estimate],
        "Figure -> its mean over the group's respondents; the interval is about other items, not other respondents.",
    ]


class GroupDifference(Tested):
    """Two groups of respondents by one figure."""

    figure: Annotated[str, "Name of the figure."]
    groups: Annotated[list[str], TWO, "The label's values of the two groups."]


class RespondentGroups(TypedDict):
    """Respondents grouped by a label."""

    items: Annotated[
        Count, "Items with a question to which all respondents replied; with `--over attempts`, such questions."
    ]
    questions: Annotated[Count, "Questions to which all respondents replied; the figures are based on these."]
    groups: Annotated[list[RespondentGroup], "The figures of each group."]
    differences: Annotated[list[GroupDifference], "The differences between each two groups."]


class AcrossModels(Correlation):
    """A correlation over models."""

    a: Annotated[str, "A template, `composite`, or `published composite`."]
    b: Annotated[str, "Another template, or `ability`."]


class Detectable(TypedDict):
    """The detectable difference of a figure."""

    figure: Annotated[str, "A figure that is a mean over questions."]
    items: Annotated[Count, "Items that the estimate is based on."]
    k: Annotated[float | None, "Mean number of instances of an item."]
    between: Annotated[float | None, "Variance between items, of an item's expected score or difference."]
    within: Annotated[float | None, "Mean variance within an item."]
    se: Annotated[float | None, "Standard error of the difference."]
    detectable: Annotated[float | None, "The smallest true difference that is detected with this power."]
    detectable_ci: Annotated[Ends | None, "95 % interval of `detectable`; null with fewer than five items."]
    needed_items: Annotated[int | None, "Items needed for `difference` at this k."]
    needed_items_ci: Annotated[list[int] | None, "95 % interval of `needed_items`."]
    needed_k: Annotated[
        int | None, "Instances of each item needed for `difference` with these items; null if no number is enough."
    ]


class ModelPower(Detectable):
    """Two respondents like this one."""

    model: Annotated[str, "Name of the respondent."]
    at: Annotated[Count, "Its index in `models`."]


class PairPower(Detectable):
    """Two respondents on the same questions."""

    models: TwoModels
    at: TwoPlaces


class Power(TypedDict):
    """The differences that a benchmark can detect."""

    alpha: Annotated[Share, "Two-sided significance level."]
    power: Annotated[Share, "Probability of detecting a true difference of the size `detectable`."]
    difference: Annotated[float | None, "The requested difference."]
    models: Annotated[list[ModelPower], "Two respondents like this one, asked different items of the same kind."]
    pairs: Annotated[list[PairPower], "The two respondents, asked the same questions."]


class IntervalMethod(TypedDict):
    """The method of the intervals."""

    method: Annotated[
        str, Keywords(enum=["bca", "percentile", "bound", "none"]), "bca: bias-corrected and accelerated bootstrap."
    ]
    level: Annotated[Share, "Confidence level of the intervals."]
    resamples: Annotated[Count, "Number of resamples of the items."]
    seed: Annotated[Count, "Seed of the resamples."]


class Comparisons(TypedDict):
    """Results about all respondents together."""

    comparisons: Annotated[
        list[ComparedPair], "All pairs of respondents by each requested figure; empty without `--compare`."
    ]
    tool_effects: Annotated[
        list[ToolEffect],
        "Each respondent with tools compared with the same one without, on the questions that both were asked: over "
        "all items, then by category. Empty without `--compare tools`.",
    ]
    rank_changes: Annotated[
        list[RankChange], "Differences between the rankings by two figures; empty without `comparisons`."
    ]
    skip_agreement: Annotated[
        list[SkipAgreement], "Whether two respondents skip the same questions; empty without `comparisons`."
    ]
    by_respondent: Annotated[
        dict[str, RespondentGroups],
        "Label in the file of `--labels` -> the figures of each group of respondents, from the questions to which all "
        "respondents replied.",
    ]
    correlations: Annotated[
        list[AcrossModels],
        "For templates with sessions: Pearson's correlation, over the models, of the accuracies in two templates, or "
        "of an accuracy with the ability in a bank.",
    ]
    power: Annotated[Power | None, "Differences that this benchmark can detect; null without `--power`."]


class ScoreOfModels(TypedDict):
    """What was scored and how, and the figures of each model."""

    bundle: Annotated[Digest | None, "Digest of the bundle; null for imported replies."]
    questions_root: Annotated[Digest, "Digest of its questions."]
    benchmark: Annotated[str, "Id of the benchmark."]
    version: Annotated[str | int | None, "Version of the benchmark; null for imported replies."]
    k: Annotated[int, Keywords(minimum=1), "Instances of each item, as compiled."]
    k_varies: Annotated[
        bool,
        "Whether items have different numbers of instances; with `--over attempts`, whether questions have different "
        "numbers of attempts.",
    ]
    n: Annotated[Count, "Items; with `--over attempts`, questions."]
    has_variants: Annotated[bool, "Whether there are variants: instances in other words."]
    over: Annotated[str, Keywords(enum=["instances", "attempts"]), "What k counts."]
    chain: Annotated[
        str,
        Keywords(enum=["standard", "strict", "lenient", "compat"]),
        "How answers were read from the replies: `--chain` of `dia score`.",
    ]
    rules: Annotated[int, Keywords(minimum=1), "The version of the rules by which replies to the questions are parsed."]
    errors: Annotated[
        str, Keywords(enum=["keep", "wrong"]), "Whether errors turn figures into ranges (keep) or count as wrong."
    ]
    preset: Annotated[
        str | None,
        Keywords(enum=["paper", "dia-bench", None]),
        "The preset for reading replies as published evaluators did, if any.",
    ]
    points: Annotated[dict[str, str], "Points that replaced the questions' own."]
    points_told: Annotated[
        list[dict[str, str]],
        "The points of the benchmark, once if they are the same in all questions; empty if unknown.",
    ]
    points_differ: Annotated[bool, "Whether `points` differ from the points of the benchmark."]
    interval: Annotated[IntervalMethod, "How `ci` was computed."]
    models: Annotated[list[Model], "The figures of each respondent."]
    ensembles: Annotated[list[Ensemble], "All models as one, with `--ensemble`."]


class Score(ScoreOfModels, Comparisons):
    """The figures of runs. Shares are between 0 and 1."""


def is_clear(pair: ComparedPair) -> bool:
    """Return whether the two models differ significantly, after Holm's adjustment."""
    return pair["p_holm"] is not None and bool(pair["p_holm"] < ALPHA)


def is_default_chain(score: Score) -> bool:
    """Return whether replies were read by the default chain of the bundle's rules."""
    return score.get("chain", "strict") == effective_chain(STANDARD, score)


def respondents(score: Score) -> Sequence[Respondent]:
    """Return the models and the ensembles."""
    return [*score["models"], *score.get("ensembles", ())]
