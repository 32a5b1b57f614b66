"""How far confidences can be trusted."""

from bayesieve.metrics.coverage import coverage_accuracy_area, coverage_accuracy_curve, expected_calibration_error

__all__ = ["coverage_accuracy_area", "coverage_accuracy_curve", "expected_calibration_error"]
