"""What is raised when a file is no usable model."""

from __future__ import annotations

__all__ = ["ModelFileError"]


class ModelFileError(ValueError):
    """A file is damaged, foreign, of a newer format, or holds what no model can hold.

    Examples
    --------
    >>> from bayesieve.persistence import ModelFileError
    >>> issubclass(ModelFileError, ValueError)
    True
    """
