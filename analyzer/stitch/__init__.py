"""Puts the entries of a job together to what a person would call its messages."""

from analyzer.stitch.messages import message_of, stitch

__all__ = ["message_of", "stitch"]
