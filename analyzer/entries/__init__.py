"""Entries of one job: sifted, merged and put together."""

from analyzer.entries.assemble import assemble
from analyzer.entries.sift import Partial, Partials, absorb, merge, sift
from analyzer.entries.story import Options, Story

__all__ = ["Options", "Partial", "Partials", "Story", "absorb", "assemble", "merge", "sift"]
