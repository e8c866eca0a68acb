from __future__ import annotations

import csv
import io
import re
from typing import Any

import pytest
from dia_runtime.psychometrics.explain import CrossValidation, ExplanationResult
from dia_runtime.report.comparison_tables import FEW_NOTE, SAME_NOTE, comparison_tables
from dia_runtime.report.scale_tables import NO_GAIN_NOTE, explain_tables
from dia_runtime.report.tables import (
    UNKNOWN,
    Table,
    as_csv,
    as_latex,
    as_markdown,
    as_rows,
    as_text,
    ladder_tables,
    score_tables,
)

FIGURES = ("rs", "conf", "nms", "pass_at_k", "trad_score", "idk_score", "idk_freq", "extract_fail", "accuracy_answered")
VERDICTS = ("correct", "skipped", "wrong", "unparsed", "error")


def figure(value: float | None, se: float | None = None, **more: Any) -> dict[str, Any]:
    return {"value": value, "se": se, "ci": None, **more}


def block(**figures: Any) -> dict[str, Any]:
    return {
        "n": 3,
        "counts": dict.fromkeys(VERDICTS, 1),
        "flags": {},
        "missing": 0,
        "completely_skipped": 0,
        "partly_skipped": 0,
        **{name: figure(0.5) for name in FIGURES},
        **figures,
    }


def result(*models: tuple[str, dict[str, Any]], groups: tuple[str, ...] = ()) -> dict[str, Any]:
    entries = [
        {
            "model": name,
            **held,
            "by_category": dict.fromkeys(groups, held),
            "by_domain": {},
            "by_variant": {},
        }
        for name, held in models
    ]
    return {"benchmark": "b", "version": "1", "n": 3, "k": 5, "models": entries, "ensembles": []}


def test_reliability_has_its_error_beside_it_and_shares_are_percent() -> None:
    held = block(rs=figure(-26.6, 8.04), conf=figure(0.2134), trad_score=figure(0.8383838, 0.0262232))
    table = score_tables(result(("a", held)))[0]
    row = dict(zip(table.headings, table.rows[0], strict=True))
    assert (row["RS@k"], row["Conf@k %"], row["abstention score %"]) == ("-26.6 +- 8.0", "21.34", "50.00")
    assert row["correct %"] == "83.84 +- 2.62"


def test_near_misses_are_whole() -> None:
    table = score_tables(result(("a", block(nms=figure(7.0)))))[0]
    assert dict(zip(table.headings, table.rows[0], strict=True))["NMS@k"] == "7"


def test_an_open_figure_shows_its_ends() -> None:
    open_end = figure(None, None, bounds=[-2.0, 1.0])
    table = score_tables(result(("a", block(rs=open_end)), ("b", block())))[0]
    assert [row[0] for row in table.rows] == ["b", "a"]
    assert "-2.0 to 1.0" in table.rows[1]


def test_one_group_needs_no_table() -> None:
    assert len(score_tables(result(("a", block()), groups=("x",)))) == 1
    assert len(score_tables(result(("a", block()), groups=("x", "y")))) == 2


def test_domains_that_are_the_categories_have_no_table_of_their_own() -> None:
    score = result(("a", block()), groups=("x", "y"))
    (model,) = score["models"]
    model["by_domain"] = dict(model["by_category"])
    assert [table.title for table in score_tables(score)[1:]] == ["By category"]
    assert [table.title for table in score_tables(score, by=["domain"])[1:]] == ["By domain"]
    model["by_domain"]["y"] = block(conf=figure(0.25))
    assert [table.title for table in score_tables(score)[1:]] == ["By category", "By domain"]


def test_columns_are_aligned_also_under_wide_and_combining_characters() -> None:
    text = as_text(score_tables(result(("模型", block()), ("e\u0301", block()), ("plain", block()))))
    lines = text.splitlines()[2:6]
    assert (
        len({line.index("0.5") + line.count("模") + line.count("型") - line.count("\u0301") for line in lines[1:]}) == 1
    )


def test_spreadsheets_see_no_formula_in_a_name() -> None:
    names = ["=HYPERLINK(1)", "+1", "-1", "@x", "\tx", 'say "hi", you']
    rows = list(csv.reader(io.StringIO(as_csv(score_tables(result(*((name, block()) for name in names)))))))
    assert {row[2] for row in rows[1:]} == {*(f"'{name}" for name in names[:5]), names[5]}


def test_markdown_cells_stay_cells() -> None:
    text = as_markdown(score_tables(result(("a|b`<script>\n# c", block()))))
    assert "a\\|b\\`&lt;script> # c" in text and "\n# c" not in text


def test_a_run_without_respondents_has_an_empty_table() -> None:
    tables = score_tables(result())
    assert tables[0].rows == () and as_text(tables) and as_csv(tables) and as_markdown(tables)


def test_latex_prints_signs_as_signs_and_numbers_as_numbers() -> None:
    text = as_latex(score_tables(result(("a_b & 50% {\\x} ~^<>\n#$", block(trad_score=figure(0.8383838, 0.0262232))))))
    assert r"a\_b \& 50\% \{\textbackslash{}x\} \textasciitilde{}\textasciicircum{}" in text
    assert r"$83.84 \pm 2.62$" in text and text.count(r"\begin{tabular}") == text.count(r"\end{tabular}") == 3
    for block_ in re.findall(r"\\begin\{tabular\}\{([lr]+)\}(.*?)\\end", text, re.DOTALL):
        rows = [line for line in block_[1].splitlines() if line.endswith(r"\\")]
        assert rows and {len(re.findall(r"(?<!\\)&", row)) + 1 for row in rows} == {len(block_[0])}


def test_errors_stand_in_columns_of_their_own_in_csv() -> None:
    table = score_tables(result(("a", block(rs=figure(-26.6, 8.04)))))
    (row,) = csv.DictReader(io.StringIO(as_csv(table)))
    assert (row["RS@k"], row["RS@k SE"], row["Conf@k %"], row["Conf@k % SE"]) == ("-26.6", "8.0", "50.00", "")


def test_numbers_in_csv_are_read_by_programs() -> None:
    table = Table("", ("model", "tokens", "cost", "note"), (("1,000", "2,878,000", UNKNOWN, "1,2"),), 1)
    assert as_rows(table).splitlines()[1] == '"1,000",2878000,,"1,2"'


def test_pass_figures_have_a_column_for_every_j() -> None:
    steps = {"1": figure(0.5, 0.1), "5": figure(0.9)}
    at, hat = ladder_tables(result(("a", {**block(), "pass_at_j": steps, "pass_hat_j": steps})))
    assert at.headings == ("model", "j = 1", "j = 5") and at.rows == (("a", "50.00 +- 10.00", "90.00"),) == hat.rows
    assert ladder_tables(result(("a", {**block(), "pass_at_j": {"1": figure(1)}, "pass_hat_j": {}}))) == []


def test_the_title_says_what_is_unusual() -> None:
    odd = {**result(("a", block())), "chain": "compat", "points": {"wrong": "-1"}, "version": None, "over": "attempts"}
    assert score_tables(odd)[0].title == "b: 3 questions, k = 5, chain compat, points wrong=-1"


def test_a_size_that_nobody_knows_is_left_empty() -> None:
    unknown = {"items": 9, "k": 2.0, "between": 0.0, "within": 0.0, "detectable": None}
    entry = {
        "model": "a",
        "figure": "trad_score",
        **unknown,
        "se": 0.0,
        "detectable_ci": None,
        "needed_items_ci": None,
        "needed_items": None,
        "needed_k": None,
    }
    power = {"alpha": 0.05, "power": 0.8, "difference": 0.1, "models": [entry], "pairs": []}
    empty = {"comparisons": [], "rank_changes": [], "skip_agreement": [], "by_respondent": {}}
    (table,) = comparison_tables({**empty, "power": power})
    row = dict(zip(table.headings, table.rows[0], strict=True))
    assert (row["SE %"], row["detectable %"], row["95 % CI of detectable %"]) == ("0.00", "-", "")
    assert table.rows[0][-3:] == ("", "", "") and table.note == SAME_NOTE
    sized = {**entry, "se": 0.1, "detectable": 0.28, "needed_items": 70, "needed_k": None}
    (table,) = comparison_tables({**empty, "power": {**power, "models": [entry, sized]}})
    assert table.note == f"{FEW_NOTE}\n{SAME_NOTE}"


def test_no_name_is_an_option_of_the_line_break_above_it_and_no_title_ends_its_comment() -> None:
    # `\\` takes `*` and `[length]` from the next line, where a row's name stands.
    text = as_latex([Table("one\ntwo\\input{x}", ("model", "n"), (("[2cm]", "1"), ("*", "2")), 1)])
    assert "\n{}[2cm] & $1$ \\\\" in text and "\n{}* & $2$ \\\\" in text
    assert text.splitlines()[0].startswith("% one") and text.splitlines()[1].startswith("\\begin{tabular}")


def test_ladders_say_which_items_count_where_items_differ_in_length() -> None:
    ladders = {key: {"1": figure(0.5, 0.1), "2": figure(0.4, 0.1)} for key in ("pass_at_j", "pass_hat_j")}
    held = result(("a", {**block(), **ladders}))
    assert [table.title for table in ladder_tables({**held, "k_varies": True})] == [
        "Pass@j: at least one of j instances correct, %, for items with at least j instances",
        "Pass^j: all j instances correct, %, for items with at least j instances",
    ]
    assert all("with at least" not in table.title for table in ladder_tables(held))


def test_empty_columns_are_left_out_of_texts_and_columns_of_names_never() -> None:
    rows = (("a", "", "1"), ("b", "", "2"))
    assert as_text([Table("t", ("name", "empty", "n"), rows, 1)]).split() == ["t", "name", "n", "a", "1", "b", "2"]
    names = as_text([Table("t", ("name", "empty", "n"), rows, 3)])
    assert names.split() == ["t", "name", "empty", "n", "a", "1", "b", "2"]


def test_no_name_breaks_a_row_or_becomes_a_link() -> None:
    table = Table("t", ("model", "n"), (("a\nbest  999", "1"), ("![x](https://example.org/y)", "2")), 1)
    assert (
        as_text([table]).splitlines()[3].split() == ["a", "best", "999", "1"]
        and len(as_text([table]).splitlines()) == 5
    )
    assert list(csv.reader(io.StringIO(as_rows(table))))[1] == ["a\nbest  999", "1"], "quoted, as replies are"
    assert "](" not in as_markdown([table]) and "[x]\\(https" in as_markdown([table])


@pytest.mark.parametrize(
    ("gain", "rmse", "note"),
    [(-9.7, 0.3, NO_GAIN_NOTE), (0.0, 0.1, NO_GAIN_NOTE), (0.1, 0.68, NO_GAIN_NOTE), (9, 0.3, "")],
)
def test_features_that_predict_nothing_are_noted(gain: float, rmse: float, note: str) -> None:
    held_out = CrossValidation(gain, rmse, 0.7)
    explained = ExplanationResult(30, 9.0, [], 0.1, 0.1, 0.0, -99.0, -99.0, held_out, [], None, [])
    (quality,) = [table for table in explain_tables(explained) if table.title == "Quality of the explanation"]
    assert quality.note == note
