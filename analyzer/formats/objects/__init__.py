"""Descriptions of jobs, pods and machines as their APIs give them, in JSON or YAML, one module a kind."""

from analyzer.formats.objects.read import document_entries, is_description

__all__ = ["document_entries", "is_description"]
