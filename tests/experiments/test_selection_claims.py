"""The verdicts and tables of the selection experiment, on numbers made by hand, and a run on a small corpus."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from corpora import Corpus
from selection_claims import HERE, PLAIN, SLOW, against_best, claims, duels, number, speed_ups
from selection_figures import STYLES, draw
from selection_report import report

from selection import METHODS, Case, divided, run, size

WHERE = {"data": "imdb", "vectors": "count", "rows": None}
LEVELS = (0.01, 0.05)


def example(
    accuracy: dict[str, list[float]] | None = None, seconds: dict[str, float] | None = None, chosen: int = 100
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Results of all methods at two levels: every method at 80 % and 10 s, ours at 80 % and 1 ms, unless told."""
    results: dict[str, Any] = {"splits": 2, "levels": LEVELS, "full": True, "max_features": 5000, "selections": []}
    times: dict[str, Any] = {"machine": "a machine", "selections": [], "searches": [], "alpha_price": []}
    facts = {"training_rows": 20, "test_rows": 10, "features": [2000, 2100], "alpha": [1.0, 1.0]}
    results |= {"cases": [WHERE | {"stages": ["multinomial NB"]} | facts], "alpha_price": []}
    for level in LEVELS:
        for method in METHODS:
            cell = {**WHERE, "method": method, "level": level}
            found = (accuracy or {}).get(method, [0.79, 0.81])
            kept = chosen if method == "Lasso" else 100
            results["selections"].append(
                cell | {"k": [100, 100], "chosen": [kept, kept], "accuracy": {"multinomial NB": found}}
            )
            default = 0.001 if method == HERE else 10.0
            times["selections"].append(cell | {"seconds": [(seconds or {}).get(method, default)] * 2})
            times["searches"].append(cell | {"seconds": 1.0})
    return results, times


def verdicts(*found: dict[str, Any]) -> list[str]:
    return [line["verdict"] for line in claims(*found)]


class TestClaims:
    def test_equal_accuracy_and_ten_thousand_times_faster(self) -> None:
        assert verdicts(*example()) == ["holds", "holds", "holds", "does not hold here"]

    def test_four_keys_of_text(self) -> None:
        for line in claims(*example()):
            assert set(line) == {"claim", "verdict", "numbers"}
            assert all(isinstance(value, str) for value in line.values())

    @pytest.mark.parametrize(
        ("ours", "expected"), [([0.80, 0.81], "holds"), ([0.785, 0.799], "holds"), ([0.7, 0.7], "does not hold here")]
    )
    def test_accuracy(self, ours: list[float], expected: str) -> None:
        assert verdicts(*example(accuracy={HERE: ours}))[0] == expected

    def test_a_rival_with_too_many_features_is_none(self) -> None:
        better = {"Lasso": [0.9, 0.9]}
        assert verdicts(*example(accuracy=better))[0] == "does not hold here"
        assert verdicts(*example(accuracy=better, chosen=200))[0] == "holds"

    def test_our_other_methods_are_no_rivals(self) -> None:
        assert verdicts(*example(accuracy={"l2 centers": [0.9, 0.9]}))[0] == "holds"

    @pytest.mark.parametrize(
        ("slow", "expected"), [(6, "holds"), (5, "holds partly"), (3, "holds partly"), (2, "does not hold here")]
    )
    def test_orders_of_magnitude_by_the_number_of_methods(self, slow: int, expected: str) -> None:
        assert verdicts(*example(seconds=dict.fromkeys(SLOW[slow:], 0.005)))[1] == expected

    @pytest.mark.parametrize(
        ("took", "expected"), [(1.1, "holds"), (0.9, "holds partly"), (0.09, "does not hold here")]
    )
    def test_thousandfold(self, took: float, expected: str) -> None:
        assert verdicts(*example(seconds={SLOW[0]: took}))[2] == expected

    def test_plain_methods(self) -> None:
        worse = {name: [0.7, 0.7] for name in PLAIN}
        assert verdicts(*example(accuracy=worse))[3] == "holds"
        assert verdicts(*example(accuracy=worse | {"TMNB": [0.9, 0.9]}))[3] == "holds partly"
        better = {"TMNB": [0.9, 0.9], "odds ratio": [0.9, 0.9]}
        better["odds ratio, both classes"] = better["TMNB"]
        assert verdicts(*example(accuracy=better))[3] == "does not hold here"


def test_duels_compare_the_same_splits() -> None:
    results, _ = example(accuracy={HERE: [0.8, 0.9], "Lasso": [0.85]})
    (first, second) = (duel for duel in duels(results) if duel.rival == "Lasso")
    assert first.difference == second.difference == pytest.approx(-0.05)


def test_the_best_rival_of_a_cell() -> None:
    results, _ = example(accuracy={"chi2": [0.85, 0.85]})
    assert {duel.rival for duel in against_best(duels(results))} == {"chi2"}


def test_speed_ups_are_ratios_of_medians() -> None:
    found = list(speed_ups(*example(seconds={"chi2": 0.05})))
    assert [record["ratio"] for record in found if record["method"] == "chi2"] == pytest.approx([50, 50])
    assert len(found) == len(LEVELS) * (len(METHODS) - 1)


@pytest.mark.parametrize(("value", "text"), [(0.512, "0.51"), (12.34, "12.3"), (99.7, "100"), (12345.6, "12,346")])
def test_number(value: float, text: str) -> None:
    assert number(value) == text


def test_size_of_a_level() -> None:
    assert [size(level, 1234) for level in (0.0001, 0.001, 0.1)] == [1, 1, 123]


def test_divided() -> None:
    results, times = divided([{"a": 1, "b": 2, "seconds": 3.0}], ["a"], ["seconds"])
    assert (results, times) == ([{"a": 1, "b": 2}], [{"a": 1, "seconds": 3.0}])


def test_report_and_figures(tmp_path: Path) -> None:
    results, times = example(chosen=300)
    text = report(results, times)
    assert "80.0 ± 1.4 *" in text  # Lasso kept too many
    assert "**holds**" in text
    draw(results, times, tmp_path)
    assert {path.name for path in tmp_path.glob("*.svg")} == {"time_imdb.svg", "sparsity_imdb.svg"}


def test_every_method_has_its_own_look() -> None:
    assert set(STYLES) == set(METHODS)
    assert len({(colour, marker) for colour, marker, _ in STYLES.values()}) == len(METHODS)


def test_run_on_a_small_corpus() -> None:
    rng = np.random.default_rng(0)
    words = np.array([f"word{i}" for i in range(40)])
    y = np.arange(60) % 2
    texts = pl.Series([" ".join(rng.choice(words[10 * label : 30 + 10 * label], 8)) for label in y])
    case = Case("mpqa", "count", 40, ("multinomial NB",))
    found = run(case, Corpus("mpqa", texts, y, None), splits=2, seed=0)
    assert len(found["selections"]) == 4 * len(METHODS)
    for record in found["selections"]:
        assert len(record["k"]) == len(record["seconds"]) == len(record["accuracy"]["multinomial NB"]) == 2
    assert found["cases"][0]["training_rows"] == 40
