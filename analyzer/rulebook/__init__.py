"""Rules as data: read, checked, compiled and matched."""

from analyzer.rulebook.match import Finding, Matcher
from analyzer.rulebook.schema import Role, Rule

__all__ = ["Finding", "Matcher", "Role", "Rule"]
