"""Rebuilds who ran, died and came back: runs in attempts, restarts by kind, checkpoints, what was lost."""

from analyzer.timeline.reconstruct import reconstruct

__all__ = ["reconstruct"]
