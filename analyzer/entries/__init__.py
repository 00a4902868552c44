"""Entries of one job: sifted, merged and put together."""

from analyzer.entries.assemble import assemble
from analyzer.entries.room import Room
from analyzer.entries.sift import Partial, Partials, Sifter, Span, absorb, merge, sift, sift_source
from analyzer.entries.story import Options, Story

__all__ = ["Options", "Partial", "Partials", "Room", "Sifter", "Span", "Story", "absorb", "assemble", "merge", "sift",
           "sift_source"]  # fmt: skip
