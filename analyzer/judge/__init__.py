"""Judges a job: of all that was found, what is the cause, what merely follows from it, and what is only loud."""

from analyzer.judge.judge import judge

__all__ = ["judge"]
