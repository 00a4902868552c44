"""Masks what names people and places, for reports that leave the house: `--redact strict`.

On top of secrets (`analyzer.redact`, which have been masked before) e-mail and IP addresses, project ids and bucket
names become pseudonyms: `project-3f2a1c`. The same name gives the same pseudonym everywhere, so that a story keeps its
sense. Whoever guesses a name can check the guess against its pseudonym, unless a key goes into it.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Callable, Iterable, Iterator
from ipaddress import ip_address
from typing import Any, TypeVar

import msgspec
import re2

from analyzer.model import Diagnosis, Evidence, Fleet, Instant, JobRow, Note, Report
from analyzer.redact import whole

KEY_VARIABLE = "DIAGNOSE_REDACT_KEY"
"""The environment variable that holds the key of the pseudonyms."""

_Value = TypeVar("_Value")

_EMAIL = re2.compile(r"[A-Za-z0-9._%+-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,}")
_ADDRESS = re2.compile(r"\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}|(?:[0-9A-Fa-f]{0,4}:){2,7}[0-9A-Fa-f.]{0,15}")
_NAME = r"([a-z0-9][a-z0-9._-]{1,61}[a-z0-9])"
_PROJECTS = re2.compile(
    rf"(?:\bprojects/|--project[= ]|[?&]project=|\bproject_id[\"']?\s*[:=]\s*[\"']?|gcr\.io/|-docker\.pkg\.dev/){_NAME}"
    rf"|{_NAME}\.iam\.gserviceaccount\.com"
)
_BUCKETS = re2.compile(
    rf"(?:\b(?:gs|s3|gcs)://|/gcs/|storage\.googleapis\.com/(?:storage/v1/b/|v1/b/)?|\bbuckets/|/b/){_NAME}"
    rf"|{_NAME}\.storage\.googleapis\.com"
)
_PUBLIC = frozenset((
    "google-containers", "cloud-aiplatform", "deeplearning-platform-release", "vertex-ai", "cloud-ml-public",
))  # fmt: skip
_LEAST_ALONE = 6  # characters that a name needs to be masked wherever it stands, and not only behind a mark of its kind
_OWN_WORDS = frozenset((
    "outcome", "category", "cause", "rule", "explained_by", "platform", "reason", "end_reason", "kind", "severity",
    "signal", "advice", "state", "version", "rulebook_version", "fingerprint", "known", "files", "report",
))  # fmt: skip
"""Fields whose words are the program's or the platform's own."""


class Pseudonyms:
    """Masks texts. `projects` and `buckets` are the names to mask; `of` finds them by where they stand."""

    def __init__(self, projects: Iterable[str] = (), buckets: Iterable[str] = (), key: bytes = b"") -> None:
        self._key = key
        names = {name: f"bucket-{self._digest(name)}" for name in buckets if name not in _PUBLIC}
        names |= {name: f"project-{self._digest(name)}" for name in projects if name not in _PUBLIC}
        self._names = names
        alone = sorted((name for name in names if len(name) >= _LEAST_ALONE), key=len, reverse=True)
        self._alone = re.compile(
            r"(?<![A-Za-z0-9_-])(?:" + "|".join(map(re.escape, alone)) + r")(?![A-Za-z0-9_-])" if alone else r"(?!)"
        )

    @classmethod
    def of(cls, value: object, key: bytes = b"") -> Pseudonyms:
        """Pseudonyms for a report or fleet: of all projects and buckets that its texts name."""
        projects: set[str] = set()
        buckets: set[str] = set()
        for text in _texts(value):
            projects.update(name for found in _PROJECTS.finditer(text) for name in found.groups() if name)
            buckets.update(name for found in _BUCKETS.finditer(text) for name in found.groups() if name)
        projects.update(name for name in _projects_of(value) if name)
        return cls(sorted(projects), sorted(buckets), key)

    def mask(self, text: str) -> str:
        """The text with addresses and names masked; masking twice changes nothing more."""
        text = whole(text)
        text = _EMAIL.sub(lambda found: self._email(found.group()), text) if "@" in text else text
        text = _ADDRESS.sub(lambda found: self._address(text, found), text)
        for pattern in (_PROJECTS, _BUCKETS):
            text = _replaced(pattern, text, self._named)
        return self._alone.sub(lambda found: self._names[found[0]], text)

    def _named(self, name: str) -> str:
        return self._names.get(name, name)

    def _email(self, address: str) -> str:
        if address.endswith("@example.invalid"):
            return address
        return f"email-{self._digest(address.lower())}@example.invalid"

    def _address(self, text: str, found: Any) -> str:
        written = str(found.group())
        before = text[max(found.start() - 2, 0) : found.start()]
        if before == "==" or before[-1:].isalnum() or before[-1:] in ("-", "_", ".") or _goes_on(text, found.end()):
            return written  # a version of a package, or a part of a longer number
        colon = ":" if written.endswith(":") and not written.endswith("::") else ""  # of the sentence around it
        bare = written.removesuffix(colon)
        try:
            address = ip_address(bare)
        except ValueError:
            return written
        return written if address.is_loopback or address.is_unspecified else f"ip-{self._digest(bare)}{colon}"

    def _digest(self, text: str) -> str:
        return hmac.new(self._key, text.encode("utf-8", "replace"), hashlib.sha256).hexdigest()[:6]


def strict_report(report: Report, key: bytes = b"") -> Report:
    """The report without addresses and names; links into a console are left out, paths lose their folders."""
    return _walked(report, Pseudonyms.of(report, key).mask)


def strict_notes(notes: list[Note], key: bytes = b"") -> list[Note]:
    """Notes on the input likewise."""
    return _walked(notes, Pseudonyms.of(notes, key).mask)


def strict_job(diagnosis: Diagnosis, row: JobRow, key: bytes = b"") -> tuple[Diagnosis, JobRow]:
    """A job of a scan likewise: its diagnosis and its row, with the same pseudonyms."""
    masks = Pseudonyms.of([diagnosis, row], key)
    return _walked(diagnosis, masks.mask), _walked(row, masks.mask)


def _walked(value: _Value, mask: Callable[[str], str]) -> _Value:
    return _copy(value, mask)  # type: ignore[no-any-return]


def _copy(value: Any, mask: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return mask(value)
    if isinstance(value, list):
        return [_copy(item, mask) for item in value]
    if isinstance(value, dict):
        return {_copy(key, mask): _copy(item, mask) for key, item in value.items()}
    if isinstance(value, msgspec.Struct):
        fields = {name: getattr(value, name) for name in value.__struct_fields__}
        if isinstance(value, Evidence):
            fields |= {"link": None, "source": _without_folders(value.source)}
        if isinstance(value, Note):
            fields["source"] = _without_folders(value.source)
        return type(value)(**{
            name: item if name in _OWN_WORDS and not isinstance(item, msgspec.Struct) else _copy(item, mask)
            for name, item in fields.items()
        })  # fmt: skip
    return value


def _without_folders(source: str | None) -> str | None:
    return source.rsplit("/", 1)[-1] if source and not source.endswith("/") else source


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield whole(value)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _texts(key)
            yield from _texts(item)
    elif isinstance(value, msgspec.Struct) and not isinstance(value, Instant):
        for name in value.__struct_fields__:
            if name not in _OWN_WORDS or isinstance(getattr(value, name), msgspec.Struct):
                yield from _texts(getattr(value, name))


def _projects_of(value: object) -> Iterator[str | None]:
    if isinstance(value, Report):
        yield from (diagnosis.job.project for diagnosis in value.diagnoses)
    elif isinstance(value, Diagnosis):
        yield value.job.project
    elif isinstance(value, JobRow):
        yield value.project
    elif isinstance(value, Fleet):
        yield from (row.project for row in value.rows)
    elif isinstance(value, list):
        for item in value:
            yield from _projects_of(item)


def _replaced(pattern: Any, text: str, named: Callable[[str], str]) -> str:
    """The text with the one group of each match replaced."""
    parts: list[str] = []
    done = 0
    for found in pattern.finditer(text):
        group = 1 if found.group(1) is not None else 2
        parts += [text[done : found.start(group)], named(found.group(group))]
        done = found.end(group)
    return "".join([*parts, text[done:]]) if parts else text


def _goes_on(text: str, end: int) -> bool:
    """Whether a number goes on behind an address: `1.2.3.4.5`, `1.2.3.4-rc1`, `1.2.3.4+cu12`."""
    after = text[end : end + 2]
    return (after[:1].isalnum()) or after[:1] in ("-", "+", "_") or (after[:1] == "." and after[1:].isdecimal())
