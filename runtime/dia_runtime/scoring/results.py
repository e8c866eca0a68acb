"""What `dia score --json` prints and `dia_runtime.score` returns, as types; its schema is made of them.

A text next to a type is its description in the schema, `Keywords` are added to it. Figures, and groups by a
label, are keys of blocks too: `figure_of` and `groups_by` read them, because their names are those of a registry.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, NotRequired, TypeAlias, TypedDict, cast

from dia_language.json_schema import Keywords

Count: TypeAlias = Annotated[int, Keywords(minimum=0)]
Share: TypeAlias = Annotated[float, Keywords(minimum=0, maximum=1)]
Ends: TypeAlias = Annotated[list[float], Keywords(minItems=2, maxItems=2)]
TWO = Keywords(minItems=2, maxItems=2)
TwoModels: TypeAlias = Annotated[
    list[str], TWO, "Two respondents, as `model` names them, with the run behind a name that several have."
]
TwoPlaces: TypeAlias = Annotated[list[Count], TWO, "Places of the two in `models`."]
Digest: TypeAlias = Annotated[str, Keywords(pattern="^[0-9a-f]{64}$")]


class Estimate(TypedDict):
    """A figure with its uncertainty."""

    value: Annotated[float | None, "null while errors leave it open."]
    se: Annotated[float | None, "Standard error with items as clusters; null below two items."]
    ci: Annotated[Ends | None, "Confidence interval of 95 %, from resampled items; null where there is none."]
    bounds: NotRequired[Annotated[Ends, "What the figure can still become, while errors are left."]]


def unknown() -> Estimate:
    """The estimate of what has no value."""
    return {"value": None, "se": None, "ci": None}


class Block(TypedDict):
    """The figures of some questions of a respondent, beside which stand those of the registry."""

    n: Annotated[Count, "Items with a reply."]
    counts: Annotated[dict[str, Count], "Questions by verdict."]
    flags: Annotated[dict[str, Count], "Questions by flag; flags stand beside verdicts."]
    completely_skipped: Annotated[Count, "Items whose instances are all skipped."]
    partly_skipped: Annotated[Count, "Items with some, but not all, instances skipped."]


def figure_of(block: Block, name: str) -> Estimate:
    """The figure of that name; one without a value where the block has none."""
    return cast(Mapping[str, Estimate], block).get(name) or unknown()


def has_figure(block: Block, name: str) -> bool:
    """Whether the block has the figure: that of shares is only where answers declare them."""
    return name in block


class CurvePoint(TypedDict):
    """A point of a risk-coverage curve."""

    confidence: Share
    coverage: Share
    risk: Share


class Penalty(TypedDict):
    """What answering was worth if a wrong answer cost so much."""

    penalty: float
    threshold: Annotated[Share, "penalty / (1 + penalty): the chance of being right above which answering pays."]
    points: Estimate
    pays: Annotated[bool | None, "Whether the accuracy is above the threshold."]


class Selective(TypedDict):
    """Selective prediction: what abstaining brings."""

    signal: Annotated[
        Literal["answered", "agreement"],
        "What orders the answered questions by confidence: how many of the item's other instances were answered; over "
        "attempts, how many other attempts said the same.",
    ]
    coverage: Estimate
    accuracy: Annotated[Estimate, "Share of right replies among those not skipped."]
    curve: Annotated[
        list[CurvePoint],
        "From the most confident on: the share of all questions answered so far, and the share of wrong ones among "
        "them.",
    ]
    aurc: Annotated[Estimate, "Area under the curve: the mean risk over all coverages up to the one that was reached."]
    aurc_best: Annotated[Estimate, "The same, if every right reply were more confident than every wrong one."]
    excess: Annotated[Estimate, "aurc less aurc_best."]
    rs_best: Annotated[Estimate, "RS@k with perfect abstention: every reply that is not right had been a skip."]
    rs_lost: Annotated[Estimate, "rs_best less rs."]
    idk_best: Annotated[Estimate, "idk_score with perfect abstention."]
    idk_lost: Annotated[Estimate, "idk_best less idk_score."]
    penalties: Annotated[list[Penalty], "Points +1, 0, -penalty: the mean points, and whether answering paid."]


class Explained(TypedDict):
    """Wrong replies by how many named mistakes explain each."""

    wrong: Annotated[Count, "Wrong replies, in all wordings."]
    one: Annotated[Count, "Those that exactly one named mistake explains."]
    several: Count
    none: Annotated[Count, "Those that none explains; one + several + none = wrong."]


class Mistake(TypedDict):
    """How often a template's wrong replies are a named mistake."""

    count: Count
    share: Annotated[Estimate, "Share of the template's wrong replies; Wilson's interval over its replies."]


class TemplateMistakes(Explained):
    """The mistakes of one template."""

    mistakes: dict[str, Mistake]


class MistakeShares(Explained):
    """The mistakes of all templates."""

    explained: Annotated[Estimate, "Share of the wrong replies that a named mistake explains."]
    templates: dict[str, TemplateMistakes]


class FigureEffect(TypedDict):
    """A figure in two wordings of the same instances."""

    base: float | None
    variant: float | None
    difference: Annotated[Estimate, "Variant less base."]
    p: Share | None


class VariantEffect(TypedDict):
    """What another wording changes."""

    items: Count
    questions: Count
    figures: dict[str, FigureEffect]


class Correlation(TypedDict):
    """A correlation with its interval."""

    n: Annotated[Count, "Pairs of values."]
    r: Annotated[
        float | None,
        Keywords(minimum=-1, maximum=1),
        "null below four pairs, and where one side does not vary.",
    ]
    ci: Annotated[Ends | None, "95 % by Fisher's z; null beside an r of -1 or 1."]


class SessionCounts(TypedDict):
    """What became of session questions."""

    valid: Count
    unread: Count
    absent: Count
    broken: Count
    error: Count
    of: Annotated[dict[str, dict[str, Count]], "Reply -> how many questions wait for it, by state."]


class ByDenominator(TypedDict):
    """An accuracy by its denominators."""

    all: Estimate
    answered: Estimate
    valid: Estimate


class PrintedFigure(TypedDict):
    """What a study prints as its accuracy."""

    study: str
    figure: Annotated[str, "Its name in `published`."]
    over: Annotated[
        str,
        Keywords(enum=["written", "all", "valid"]),
        "What it counts: the keys that the model wrote, all questions, or the valid ones as the study saw them.",
    ]
    value: float | None


class DeclaredFigure(TypedDict):
    """The value of a figure that a template declares."""

    value: float | None
    se: NotRequired[float | None]
    ci: NotRequired[list[float] | None]
    bounds: NotRequired[Ends]
    of: NotRequired[Count]
    steps: NotRequired[Annotated[list[float], "Share of questions without the event by each step."]]


class DecisionCounts(TypedDict):
    """Known decisions by what was predicted and what came."""

    tp: Count
    fp: Count
    fn: Count
    tn: Count


class Denominators(TypedDict):
    """How many decisions each denominator has."""

    all: Count
    answered: Count
    valid: Count


class Baselines(TypedDict):
    """What constant predictions would have reached."""

    always: float | None
    never: float | None


class SessionBlock(TypedDict):
    """Figures of a template of sessions.

    all: every decision or question; answered: those whose replies came; valid: those whose replies were read.
    """

    truth: Annotated[str, Keywords(enum=["grade", "decisions", "ranking"])]
    questions: Count
    ledger: Annotated[
        SessionCounts,
        "What became of the questions; the five numbers add up to `questions`. unread: a reply came and could not be "
        "read; absent: one never came; broken: the truth failed on what came.",
    ]
    accuracy: ByDenominator
    recorded: Annotated[Count, "Questions that rest on values a log gave without their texts."]
    positive: NotRequired[Annotated[str | None, "Name of the positive class."]]
    counts: NotRequired[Annotated[DecisionCounts, "Known decisions."]]
    units: NotRequired[Annotated[Denominators, "Decisions by denominator."]]
    baselines: NotRequired[
        Annotated[Baselines, "What foretelling always, or never, the positive class would have reached."]
    ]
    macro_accuracy: NotRequired[Annotated[Estimate, "Mean over questions of the share of known decisions that agree."]]
    recall: NotRequired[Annotated[Estimate, "TP / (TP + FN)."]]
    precision: NotRequired[Annotated[Estimate, "TP / (TP + FP)."]]
    positive_rate: NotRequired[Annotated[Estimate, "(TP + FP) / known."]]
    f1: NotRequired[Annotated[Estimate, "2 TP / (2 TP + FP + FN)."]]
    over_niceness: NotRequired[Annotated[Estimate, "FN / (FN + FP)."]]
    exact: NotRequired[Annotated[Estimate, "Share of valid rankings in the very order."]]
    tokens: NotRequired[Annotated[Estimate, "Mean completion tokens a question, of the subject."]]
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
            "The figure that the study prints as its accuracy, where `--preset` asks for it; null where it prints "
            "none.",
        ]
    ]
    figures: NotRequired[Annotated[dict[str, DeclaredFigure], "Declared figure -> its value."]]


def session_figure(block: SessionBlock, name: str) -> Estimate | None:
    """A figure of sessions that only some kinds of truth have."""
    return cast(Mapping[str, Estimate], block).get(name)


class Composite(TypedDict):
    """The mean of several accuracies."""

    value: float
    se: Annotated[float | None, "null where a template has none."]
    ci: Annotated[Ends | None, "1.96 standard errors to both sides, within 0 and 1."]
    over: Annotated[str, Keywords(const="all"), "The denominator of the accuracies."]
    of: Annotated[dict[str, float], "Template -> its accuracy."]


class Ability(TypedDict):
    """A place on the scale of a bank."""

    value: float
    se: float | None


Published: TypeAlias = dict[str, dict[str, Any]]  # study -> its figures, under the names that its recordings use


class SessionFigures(TypedDict, total=False):
    """The figures of questions that are sessions."""

    sessions: NotRequired[Annotated[dict[str, SessionBlock], "Template -> its figures, where questions are sessions."]]
    composite: NotRequired[
        Annotated[
            Composite | None,
            "Mean of the accuracies of association, restriction and difficulty, where all of them are there, else of "
            "all templates of sessions; null where none has an accuracy.",
        ]
    ]
    published: NotRequired[
        Annotated[
            Published,
            "Study -> its figures under the names of its recordings, where `--preset` asks for them.",
        ]
    ]


class Respondent(Block, SessionFigures):
    """The figures of a respondent, or of several as one."""

    model: Annotated[str, "Name of the respondent."]
    missing: Annotated[Count, "Questions without any reply; they count nowhere."]
    pass_at_j: Annotated[
        dict[str, Estimate], "j -> Pass@j, a share: the chance that one of j instances of an item is correct."
    ]
    pass_hat_j: Annotated[dict[str, Estimate], "j -> Pass^j, a share: the chance that all of j are."]
    tsr: Annotated[dict[str, Count], "Item -> its correct instances."]
    other_k: NotRequired[
        Annotated[
            dict[str, Annotated[int, Keywords(minimum=1)]],
            "Item -> how many instances of it count, where that is not `k`: items differ, or some were not asked.",
        ]
    ]
    mistakes: Annotated[dict[str, dict[str, Share]], "Template -> mistake -> share of the template's wrong replies."]
    mistake_shares: MistakeShares
    selective: Annotated[Selective, "Selective prediction: what abstaining brings."]
    variants: Annotated[dict[str, VariantEffect], "Variant -> its paired effect on the same instances."]


class Model(Respondent):
    """The figures of one respondent."""

    run: Annotated[str, "The run's file."]
    labels: Annotated[dict[str, str], "What `models.yaml` says of the respondent."]
    ability: NotRequired[
        Annotated[Ability | None, "The model's ability in logits, where a bank is named; null where that has none."]
    ]


class Ensemble(Respondent):
    """The figures of all respondents as one."""

    members: Annotated[list[str], "Who votes."]
    votes: Annotated[str, Keywords(enum=["vote", "outcomes"]), "What votes: answers, or verdicts."]
    ties: Annotated[str, Keywords(enum=["skip", "first", "wrong"])]
    skips: Annotated[str, Keywords(enum=["count", "ignore"])]


def groups_by(respondent: Respondent, label: str) -> Mapping[str, Block]:
    """Value of a label -> the figures of its questions; nothing where the score has no groups by it."""
    return cast(Mapping[str, Mapping[str, Block]], respondent).get(f"by_{label}", {})


class Difference(TypedDict):
    """A difference of two figures, and how surprising it is."""

    difference: Annotated[Estimate, "The first less the second, over the same questions."]
    p: Annotated[
        Share | None,
        "Two-sided, from Student's t with the items as clusters; null where the difference has no error.",
    ]
    order: Annotated[Share | None, "Share of resamples in which the order of the two is the one that was measured."]


class Tested(Difference):
    """A difference among others."""

    p_holm: Annotated[Share | None, "The same, adjusted by Holm over all pairs of this figure."]


class ComparedPair(Tested):
    """Two respondents by one figure."""

    figure: str
    models: TwoModels
    at: TwoPlaces
    items: Annotated[Count, "Items with questions to which both replied."]
    questions: Count
    values: Annotated[
        list[float | None], TWO, "The two figures over these questions; null while errors leave one open."
    ]


class RankRow(TypedDict):
    """A respondent's rank by two figures."""

    model: str
    at: Count
    ranks: Annotated[
        list[Annotated[int | None, Keywords(minimum=1)]],
        TWO,
        "Rank by the first and by the second figure, from 1; equal figures share the better rank.",
    ]


class RankReversal(TypedDict):
    """Two respondents whose order two figures reverse."""

    models: Annotated[list[str], TWO, "The one that leads by the first figure, then the one that leads by the second."]
    at: TwoPlaces
    order: Annotated[list[Share | None], TWO, "Share of resamples in which the order by each figure holds."]
    both: Annotated[Share | None, "Share of resamples in which both hold, so that the change is none of chance."]


class RankChange(TypedDict):
    """What two figures change in the order of the respondents."""

    figures: Annotated[list[str], TWO, "The two figures."]
    ranks: list[RankRow]
    changes: Annotated[list[RankReversal], "Pairs whose order the two figures reverse."]


class SkipAgreement(TypedDict):
    """Whether two respondents skip the same questions."""

    models: TwoModels
    at: TwoPlaces
    items: Count
    both: Annotated[Count, "Questions that both skipped."]
    first: Annotated[Count, "Those that only the first skipped."]
    second: Count
    neither: Count
    phi: Annotated[Estimate, "Correlation of the two skips; items are resampled."]


class RespondentGroup(TypedDict):
    """Respondents with the same value of a label."""

    value: Annotated[str, "The label's value; `none` for respondents without one."]
    models: list[str]
    at: list[Count]
    figures: Annotated[
        dict[str, Estimate],
        "Figure -> its mean over the group's respondents; the uncertainty is that of the items.",
    ]


class GroupDifference(Tested):
    """Two groups of respondents by one figure."""

    figure: str
    groups: Annotated[list[str], TWO]


class RespondentGroups(TypedDict):
    """Respondents grouped by a label."""

    items: Annotated[Count, "Items of which all respondents replied to a question; over attempts, questions."]
    questions: Annotated[Count, "Questions to which all respondents replied: the figures are over these."]
    groups: list[RespondentGroup]
    differences: list[GroupDifference]


class AcrossModels(Correlation):
    """What goes together over models."""

    a: Annotated[str, "A template, `composite`, or `published composite`."]
    b: Annotated[str, "Another template, or `ability`."]


class Detectable(TypedDict):
    """Which difference of a figure can be seen."""

    figure: Annotated[str, "A figure that is a mean over questions."]
    items: Count
    k: Annotated[float | None, "Mean number of instances of an item."]
    between: Annotated[float | None, "Variance between items, of an item's expected score or difference."]
    within: Annotated[float | None, "Mean variance within an item."]
    se: float | None
    detectable: Annotated[float | None, "The smallest true difference that is found with this power."]
    needed_items: Annotated[int | None, "Items needed for `difference` at this k."]
    needed_k: Annotated[
        int | None, "Instances of each item needed for `difference` at these items; null where none suffice."
    ]


class ModelPower(Detectable):
    """Two respondents like this one."""

    model: str
    at: Count


class PairPower(Detectable):
    """Two respondents on the same questions."""

    models: TwoModels
    at: TwoPlaces


class Power(TypedDict):
    """Which differences a benchmark can see."""

    alpha: Share
    power: Share
    difference: Annotated[float | None, "The difference that was asked for."]
    models: Annotated[list[ModelPower], "Two respondents like this one, each asked other items of the same kind."]
    pairs: Annotated[list[PairPower], "The two respondents, asked the same questions."]


class IntervalMethod(TypedDict):
    """How intervals were computed."""

    method: Annotated[str, Keywords(enum=["bca", "percentile", "none"])]
    level: Annotated[Share, "What the intervals shall cover."]
    resamples: Annotated[Count, "Resamples of the items."]
    seed: Annotated[Count, "Seed of the resamples."]


class Comparisons(TypedDict):
    """What is made of all respondents together."""

    comparisons: Annotated[
        list[ComparedPair], "All pairs of respondents by each figure that was asked for; empty where none was."
    ]
    rank_changes: Annotated[
        list[RankChange], "What two figures change in the order of the respondents; empty without `comparisons`."
    ]
    skip_agreement: Annotated[
        list[SkipAgreement], "Whether two respondents skip the same questions; empty without `comparisons`."
    ]
    by_respondent: Annotated[
        dict[str, RespondentGroups],
        "Label of `models.yaml` -> the respondents grouped by it, over the questions that all replied to.",
    ]
    correlations: Annotated[
        list[AcrossModels],
        "Pearson's correlations, over models, of the accuracies of templates of sessions, and with the ability that a "
        "bank has of the models.",
    ]
    power: Annotated[Power | None, "Which difference this benchmark can see; null where it was not asked for."]


class ScoreOfModels(TypedDict):
    """What was scored and how, and the figures of each model."""

    bundle: Annotated[Digest | None, "Digest of the bundle that was asked; null for imported replies."]
    questions_root: Annotated[Digest, "Name of its questions."]
    benchmark: str
    version: Annotated[str | int | None, "null for imported replies."]
    k: Annotated[int, Keywords(minimum=1), "Instances of an item, as compiled."]
    k_varies: Annotated[
        bool,
        "Whether items differ in their number of instances; over attempts, questions in that of their attempts.",
    ]
    n: Annotated[Count, "Items; over attempts, questions."]
    over: Annotated[str, Keywords(enum=["instances", "attempts"]), "What k counts."]
    chain: Annotated[str, Keywords(enum=["strict", "lenient", "compat"])]
    errors: Annotated[str, Keywords(enum=["keep", "wrong"])]
    preset: Annotated[str | None, Keywords(enum=["paper", None]), "Which published evaluators' reading was asked for."]
    points: Annotated[dict[str, str], "Points that replaced the questions' own."]
    points_told: Annotated[
        list[dict[str, str]], "The different points that models were told; empty where nobody knows."
    ]
    points_differ: Annotated[bool, "Whether `points` replace what the models were told by something else."]
    interval: Annotated[IntervalMethod, "How `ci` was computed."]
    models: list[Model]
    ensembles: Annotated[list[Ensemble], "All models as one, where that was asked for."]


class Score(ScoreOfModels, Comparisons):
    """The figures of runs. Shares lie between 0 and 1."""


def respondents(score: Score) -> Sequence[Respondent]:
    """The models and the ensembles."""
    return [*score["models"], *score.get("ensembles", ())]
