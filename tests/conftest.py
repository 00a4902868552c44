"""Settings of the whole suite: generated examples are the same in every run, and no example is judged by a clock."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("suite", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("suite")
