"""Rebuilds who ran, died and came back: runs in attempts, restarts by kind, checkpoints, what was lost."""

from analyzer.timeline.reconstruct import reconstruct
from analyzer.timeline.settled import settled

__all__ = ["reconstruct", "settled"]
