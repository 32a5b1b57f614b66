"""scikit-learn's own checks, with no expected failures: the default set, and those it exports but leaves out."""

from __future__ import annotations

import pytest
from families import FAMILIES
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks

K_IS_CLAMPED = "ignore:k=10 is larger than the number of features"
NAMES_CHECKED_BY_SKLEARN = "ignore:X (does not have valid|has) feature names"

VARIANTS = [build(**options) for build in FAMILIES.values() for options in ({}, {"k": "all"}, {"k": 0.5})]

EXTRA_CHECKS = [
    "check_set_output_transform",
    "check_set_output_transform_pandas",
    "check_set_output_transform_polars",
    "check_global_output_transform_pandas",
    "check_global_set_output_transform_polars",
    "check_dataframe_column_names_consistency",
    "check_transformer_get_feature_names_out",
    "check_transformer_get_feature_names_out_pandas",
    "check_param_validation",
    "check_inplace_ensure_writeable",
]


@pytest.mark.filterwarnings(K_IS_CLAMPED)
@pytest.mark.filterwarnings(NAMES_CHECKED_BY_SKLEARN)
@parametrize_with_checks(VARIANTS)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.filterwarnings(K_IS_CLAMPED)
@pytest.mark.filterwarnings(NAMES_CHECKED_BY_SKLEARN)
@pytest.mark.parametrize("name", EXTRA_CHECKS)
@pytest.mark.parametrize("estimator", VARIANTS, ids=str)
def test_checks_outside_the_default_set(estimator, name):
    check = getattr(estimator_checks, name)
    check(type(estimator).__name__, estimator)
