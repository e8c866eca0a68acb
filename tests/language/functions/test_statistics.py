"""Statistics against Python's statistics module, numpy and scipy."""

from __future__ import annotations

import math
import statistics
from fractions import Fraction
from typing import Any

import numpy
import pytest
import scipy.stats
from dia_language.diagnostics import LanguageError
from dia_language.numbers.values import normal
from helpers.library_calls import call, code
from hypothesis import given, settings
from hypothesis import strategies as st

NUMBERS = st.one_of(st.integers(-50, 50), st.fractions(-9, 9, max_denominator=6).map(normal))
LISTS = st.lists(NUMBERS, min_size=1, max_size=9)
PAIRS = st.lists(st.tuples(NUMBERS, NUMBERS), min_size=2, max_size=8)


@given(LISTS)
def test_spread_agrees_with_the_statistics_module(values: list[Any]) -> None:
    exact = [Fraction(value) for value in values]
    assert call("variance", values) == statistics.pvariance(exact)
    assert float(call("standard_deviation", values)) == pytest.approx(statistics.pstdev(exact))
    assert call("modes", values) == statistics.multimode(values)
    if len(values) > 1:
        assert call("variance", values, "sample") == statistics.variance(exact)
    else:
        assert code("variance", values, "sample") == "E504"


@settings(deadline=None)
@given(PAIRS)
def test_two_lists_agree_with_the_statistics_module(pairs: list[tuple[Any, Any]]) -> None:
    a, b = map(list, zip(*pairs, strict=True))
    wanted = statistics.covariance(list(map(float, a)), list(map(float, b)))
    assert float(call("covariance", a, b, "sample")) == pytest.approx(wanted, abs=1e-9)
    if len(set(a)) < 2:
        assert code("linear_fit", a, b) == code("correlation", a, b) == "E504"
        return
    slope, intercept = call("linear_fit", a, b)
    fitted = numpy.polyfit(list(map(float, a)), list(map(float, b)), 1)
    assert (float(slope), float(intercept)) == pytest.approx(tuple(fitted), abs=1e-6)
    if len(set(b)) > 1:
        coefficient = scipy.stats.pearsonr(list(map(float, a)), list(map(float, b)))[0]
        assert float(call("correlation", a, b)) == pytest.approx(coefficient, abs=1e-9)


@given(LISTS, st.integers(0, 16).map(lambda n: Fraction(n, 16)))
def test_quantiles_agree_with_numpy(values: list[Any], share: Fraction) -> None:
    held = numpy.array(list(map(float, values)))
    for method in ("linear", "lower", "higher", "midpoint", "nearest"):
        wanted = numpy.quantile(held, float(share), method=method)
        assert float(call("quantile", values, normal(share), method)) == pytest.approx(wanted, abs=1e-12), method
    wanted = numpy.quantile(held, float(share), method="inverted_cdf")
    assert float(call("quantile", values, normal(share), "inverted")) == pytest.approx(wanted, abs=1e-12)


def test_results_are_exact() -> None:
    assert call("standard_deviation", [1, 2, 3]) ** 2 == call("variance", [1, 2, 3]) == Fraction(2, 3)
    assert call("correlation", [1, 2, 3, 4], [4, 3, 2, 1]) == -1
    assert call("quantile", [10, 20], Fraction(1, 3)) == Fraction(40, 3)
    assert call("variance", [call("sqrt", 2), 0]) == Fraction(1, 2)
    assert math.isclose(float(call("standard_deviation", [1, 2], "sample")), math.sqrt(0.5))


def test_lists_that_have_no_such_figure_are_refused() -> None:
    assert code("variance", []) == "E504"
    assert (
        code("quantile", [], Fraction(1, 2)) == code("quantile", [1], 2) == code("quantile", [1], 0, "midd") == "E501"
    )
    assert (
        code("variance", [1, 2], "all") == code("covariance", [1], [1, 2]) == code("linear_fit", [1, 1], [1]) == "E501"
    )
    assert call("modes", []) == []
    with pytest.raises(LanguageError) as caught:
        call("quantile", [1], 0, "linaer")
    assert caught.value.help == "did you mean `linear`?"
