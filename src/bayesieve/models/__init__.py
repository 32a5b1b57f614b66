"""The scikit-learn estimators: they validate, call down, and keep the few numbers of the result."""
