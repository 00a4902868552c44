"""The command line: what it says is in `commands`, what it does is in the rest of the program."""

from analyzer.cli.main import main

__all__ = ["main"]
