"""Studies that the tests of the report share."""

from __future__ import annotations

import pytest
from report_data import reviews

from bayesieve.report import Rows, run_study, summarise


@pytest.fixture(scope="session")
def review_study():
    texts, labels = reviews()
    return run_study(Rows(texts[:40], labels[:40]), Rows(texts[40:], labels[40:]), k=4)


@pytest.fixture(scope="session")
def review_summary(review_study):
    return summarise(review_study, title="Reviews", source="reviews.csv", target="label", command="make reviews")
