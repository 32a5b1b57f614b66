"""Slow, obvious versions of every algorithm. They share no code with ``src``: that is their worth."""

from __future__ import annotations

import itertools

import numpy as np
