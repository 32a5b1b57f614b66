"""The table of claims is made of the results that are there, and never stale."""

from __future__ import annotations

import claims
import pytest
from common import VERDICTS, cells, claim, dump, gathered, spread, table


def test_the_readme_holds_the_table_that_the_results_give():
    assert f"{claims.BEGIN}\n{claims.claims_table()}\n{claims.END}" in claims.README.read_text(), (
        "run python experiments/claims.py"
    )


def test_every_verdict_is_one_of_three():
    assert claim("a", VERDICTS[0], "1 of 1")["verdict"] == "holds"
    with pytest.raises(ValueError, match="got 'true'"):
        claim("a", "true", "1 of 1")


def test_results_have_one_record_a_line_and_no_rounding_noise():
    text = dump({"seed": 0, "rows": [{"a": 1.0 / 3.0, "b": 4e-17}, {"a": float("nan"), "b": [1, True]}]})
    assert text.splitlines()[1:6] == [
        ' "seed": 0,',
        ' "rows": [',
        '  {"a": 0.333333, "b": 0.0},',
        '  {"a": null, "b": [1, true]}',
        " ]",
    ]


def test_spread_is_mean_and_deviation_between_splits():
    assert spread([0.5, 0.7]) == "60.0 ± 14.1"
    assert spread([0.5]) == "50.0"


def test_cells_keep_the_order_of_appearance():
    records = [{"m": "b", "x": 1}, {"m": "a", "x": 2}, {"m": "b", "x": 3}]
    assert [list(key) for key in cells(records, ["m"])] == [["b"], ["a"]]
    assert gathered(records, ["m"], ["x"]) == [{"m": "b", "x": [1, 3]}, {"m": "a", "x": [2]}]


def test_tables_are_markdown():
    assert table(["", "k"], [["a", 1]]).splitlines() == ["|  | k |", "| :--- | ---: |", "| a | 1 |"]
