"""Trained models as small files and small pipelines."""

from bayesieve.persistence.columns import NamedColumns
from bayesieve.persistence.errors import ModelFileError
from bayesieve.persistence.model_file import SavedModel, load_model, read_model, save_model
from bayesieve.persistence.shrinking import shrink

__all__ = ["ModelFileError", "NamedColumns", "SavedModel", "load_model", "read_model", "save_model", "shrink"]
