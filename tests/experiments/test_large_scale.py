"""Pure parts of the experiments on many features: splits, counts, smoothing, exponents and verdicts."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

pytest.importorskip("matplotlib")

import common
import complexity
import corpora
import large_scale
import large_scale_report
import smoothing
import tables
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import MultinomialNB
from two_stage import top

N = 200


def corpus(name, official=True):
    rng = np.random.default_rng(0)
    words = np.array(["good", "bad", "plot", "film", "actor", "slow", "great"])
    texts = pl.Series([" ".join(rng.choice(words, 6)) + f" w{i}" for i in range(N)])
    parts = (np.arange(150), np.arange(150, N)) if official else None
    return corpora.Corpus(name, texts, np.arange(N) % 2, parts)


# ---------------------------------------------------------------- splits and vectors


@pytest.mark.parametrize("name", corpora.CORPORA)
@pytest.mark.parametrize("number", [0, 1, 2])
def test_split_is_disjoint_and_determined_by_seed(name, number):
    data = corpus(name, official=name not in ("amazon", "mpqa"))
    train, test = data.split(number, seed=3)
    assert not set(train) & set(test)
    again = data.split(number, seed=3)
    assert train.tolist() == again[0].tolist()
    assert test.tolist() == again[1].tolist()
    if number:
        other = data.split(number, seed=4)
        assert train.tolist() != other[0].tolist()


@pytest.mark.parametrize("name", ["imdb", "twitter", "sst2"])
def test_official_split_comes_first(name):
    data = corpus(name)
    for found, wanted in zip(data.split(0), data.official, strict=True):
        assert found.tolist() == wanted.tolist()


def test_phrases_are_never_tested_on():
    data = corpus("sst2")
    for number in range(1, 5):
        train, test = data.split(number)
        assert test.tolist() == data.official[1].tolist()
        assert set(train) < set(data.official[0])


def test_random_splits_of_tweets_keep_to_the_training_rows():
    train, test = corpus("twitter").split(1)
    assert max(*train, *test) < 150


def test_first_rows_keep_the_classes_even():
    data = corpus("imdb")
    kept = corpora.first_rows(np.arange(N), data.y, 40, seed=1)
    assert len(kept) == 40
    assert data.y[kept].sum() == 20
    assert corpora.first_rows(kept, data.y, 50, seed=1) is kept


@pytest.mark.parametrize("kind", list(corpora.VECTORS))
def test_vectors_of_a_split_are_those_of_its_texts(kind):
    data = corpus("imdb")
    train, test = data.split(1)
    wanted = corpora.vectors(data.texts[train], data.texts[test], kind)
    found = corpora.vectors_of_split(corpora.counts_of_all(data.texts, kind), train, test, kind)
    for one, other in zip(found, wanted, strict=True):
        assert one.shape == other.shape
        np.testing.assert_allclose(one.toarray(), other.toarray(), rtol=1e-14)


# ---------------------------------------------------------------- choosing


def test_smoothing_has_the_scores_of_a_grid_search():
    rng = np.random.default_rng(1)
    X, y = rng.poisson(0.4, (120, 30)).astype(float), np.arange(120) % 2
    X[y == 1, :3] += rng.poisson(0.5, (60, 3))
    alphas = [0.01, 1.0, 10.0]
    grid = GridSearchCV(MultinomialNB(), {"alpha": alphas}, cv=4).fit(X, y)
    wanted = np.column_stack([grid.cv_results_[f"split{i}_test_score"] for i in range(4)])
    np.testing.assert_allclose(smoothing.scores(X, y, folds=4, alphas=alphas), wanted)
    assert smoothing.choose(X, y, folds=4, alphas=alphas) == grid.best_params_["alpha"]


@pytest.mark.parametrize("k", [1, 3, 10, 40])
def test_top_takes_the_lowest_of_equal_scores(k):
    scores = np.random.default_rng(2).integers(0, 5, 40).astype(float)
    assert top(scores, k).tolist() == np.sort(np.argsort(-scores, kind="stable")[:k]).tolist()


# ---------------------------------------------------------------- counts


@pytest.mark.parametrize("analyzer", ["word", "char"])
def test_terms_are_counted_by_length(analyzer):
    texts = pl.Series(["Ein schöner Tag", "schöner schöner Film", "Tag"])
    every, train = tables.terms_by_length(texts, np.array([0, 1]), analyzer)
    if analyzer == "word":
        assert every.tolist() == [0, 4, 4, 2]
    else:
        whole = [text.lower() for text in texts]
        wanted = [len({t[i : i + n] for t in whole for i in range(len(t) - n + 1)}) for n in (1, 2, 3)]
        assert every.tolist() == [0, *wanted]
    assert train.tolist() == every.tolist()  # the last text brings nothing new


def test_letters_only_drops_placeholders():
    assert tables.letters_only(pl.Series(["USER I'm 2 late: URL now"])).to_list() == ["I m late now"]


def test_nearest_setting():
    records = [{"data": "imdb", "kind": "words", "difference": d} for d in (0.3, -0.1, 0.1)]
    assert tables.nearest(records, "imdb", "words")["difference"] == -0.1


def counts(difference):
    return [
        {"data": data, "kind": kind, "range": ngrams, "difference": difference}
        for data in corpora.CORPORA
        for kind, ngrams in tables.BIGRAMS.items()
    ]


@pytest.mark.parametrize(("off", "verdict"), [(0.02, "holds"), (-0.04, "holds partly"), (0.2, "does not hold here")])
def test_verdict_on_counts(off, verdict):
    (claim,) = tables.claims({"counts": counts(off)}, {})
    assert claim["verdict"] == verdict


# ---------------------------------------------------------------- run times


@pytest.mark.parametrize("power", [0.5, 1.0, 1.3])
def test_exponent_of_a_power_law(power):
    sizes = [10, 100, 1000, 50_000]
    slope, error = complexity.exponent(sizes, [3e-6 * m**power for m in sizes])
    assert slope == pytest.approx(power)
    assert error == pytest.approx(0, abs=1e-7)
    late, _ = complexity.last_decade([1, 100, 1000], [50.0, 100.0**power, 1000.0**power])
    assert late == pytest.approx(power)


@pytest.mark.parametrize(
    ("words", "others", "verdict"),
    [(0.8, 1.0, "holds"), (0.8, 1.2, "holds partly"), (1.2, 0.9, "does not hold here")],
)
def test_verdict_on_complexity(words, others, verdict):
    times = [
        {"series": series, "features": m, "fit": [m ** (words if series == "words" else others)] * 3}
        for series in complexity.TITLES
        for m in (100, 1000, 10_000)
    ]
    (claim,) = complexity.claims({"results": [{"certified": True}]}, {"times": times})
    assert claim["verdict"] == verdict
    assert f"steepest step {words:.2f} (" in claim["numbers"]
    assert "1 of 1 supports certified" in claim["numbers"]


def test_most_frequent_columns():
    X = complexity.sp.csr_matrix(np.array([[1.0, 0, 2, 0], [0, 3, 0, 0], [0, 0, 4, 5]]))
    some = complexity.most_frequent(X, np.array([2, 0, 1, 3]), 2)
    assert some.toarray().tolist() == [[1, 2], [0, 0], [0, 4]]


def run(gain, took, features=12_500_000):
    """Results and times of three splits, in which ours is better by so much and takes so long."""
    results, times = [], []
    for data, kind in (("twitter", "tf-idf word bigram"), ("imdb", "count")):
        for split in range(4):
            for method in ("TMNB", "odds ratio", "sparse multinomial"):
                ours = method == "sparse multinomial"
                about = {"data": data, "vector": kind, "split": split, "level": 0.01, "method": method}
                about |= {"rows": 1_600_000 if split == 0 else 1_584_000, "features": features}
                accuracy = 0.7 + 0.001 * split + ours * gain
                results.append(
                    about
                    | {
                        "accuracy": accuracy,
                        "certified": True if ours else None,
                        "test_error": {"TMNB": 0.005, "odds ratio": 0.005},
                    }
                )
                times.append(about | {"seconds": took[data] if ours else 1.0})
    return {"results": results}, {"times": times}


@pytest.mark.parametrize(
    ("gain", "headline", "elsewhere", "verdicts"),
    [
        (0.03, 10.0, 1.0, ["holds", "holds"]),
        (0.03, 16.0, 9.0, ["does not hold here", "does not hold here"]),
        (-0.03, 2.0, 1.0, ["holds", "does not hold here"]),
    ],
)
def test_verdicts_on_large_data(gain, headline, elsewhere, verdicts):
    results, times = run(gain, {"twitter": headline, "imdb": elsewhere})
    found = large_scale_report.claims(results, times)
    assert [claim["verdict"] for claim in found] == verdicts
    assert all(claim["numbers"] for claim in found)


def test_headline_needs_the_features():
    results, times = run(0.0, {"twitter": 1.0, "imdb": 1.0}, features=1000)
    assert large_scale_report.claims(results, times)[0]["verdict"] == "does not hold here"


def test_capped_runs_say_nothing_of_times():
    times = {"times": [{"data": "twitter", "rows": n} for n in (1_600_000, 1_584_000, 100_000)]}
    assert [r["rows"] for r in large_scale_report.timing_records(times)] == [1_600_000, 1_584_000]


def test_factor_is_paired_by_run():
    _, times = run(0.0, {"twitter": 2.0, "imdb": 0.5})
    assert large_scale_report.factors(times, "TMNB")["imdb", "count"] == [0.5] * 4


@pytest.mark.parametrize(
    ("gain", "sign"), [([1.0, 1.1, 0.9], 1), ([-1.0, -1.1], -1), ([1.0, -1.0, 0.5], 0), ([3.0], 0)]
)
def test_clear_differences_exceed_two_standard_errors(gain, sign):
    assert large_scale_report.clearly(gain) == sign
    assert large_scale_report.clearly(gain, test_error=2.0) == 0


def test_standard_error_of_paired_rows():
    right, other = np.array([True, True, False, True]), np.array([True, False, False, True])
    assert large_scale.standard_error(right, other) == pytest.approx(0.25)
    assert large_scale.standard_error(right, right) == 0


# ---------------------------------------------------------------- tables and files


def test_dump_is_json_with_a_line_for_each_record():
    found = common.dump({"seed": 0, "records": [{"a": np.float64(1 / 3), "b": np.bool_(True)}, {"a": np.nan}]})
    assert json.loads(found) == {"seed": 0, "records": [{"a": 0.333333, "b": True}, {"a": None}]}
    assert len(found.splitlines()) == 7


def test_spread():
    assert common.spread([0.5, 0.7]) == "60.0 ± 14.1"
    assert common.spread([0.5]) == "50.0"


def test_table():
    assert common.table(["a", "b"], [["x", 1]]).splitlines() == ["| a | b |", "| :--- | ---: |", "| x | 1 |"]
