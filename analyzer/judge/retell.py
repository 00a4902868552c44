"""Tells a finished diagnosis in the other language, for saved ones: all texts but the log's own.

Texts of a rule are filled anew with the values that the diagnosis keeps. Of other sentences only the words are kept;
they are recognised by their templates, which are turned into expressions, and filled anew as well. A text that no
template knows stays as it is: an older version may have said what this one no longer says.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import re2
from msgspec.structs import replace

from analyzer.expressions import expression
from analyzer.judge.capacity import capacity_steps
from analyzer.judge.exits import exit_causes
from analyzer.judge.memory import memory_of
from analyzer.judge.sentences import TABLES, sentence, table
from analyzer.judge.texts import CaseTexts
from analyzer.model import Diagnosis, Note, Point, Retry, RootCause
from analyzer.model.numbers import number
from analyzer.rulebook import Finding, Matcher, Role, Rule
from analyzer.rulebook.schema import Condition, Text
from analyzer.rulebook.text import PLACE, fill
from analyzer.stitch import message_of

_POINT = expression(r"([+-]\d+) (.*)", re.DOTALL)
_LANGUAGES = ("en", "de")
_STEPS = ("scored", "follows_from", "survived", "survived_one", "none_convinces", "nothing_failed_before")
_SUMMARIES = ("failed", "failed_job", "ended", "unknown_code")  # they stand in no other sentence
_ENDS = ("exit_code", "no_exit_code")
_LEAST_WORDS = 6  # letters of its own that a template needs to be recognised by


class _Template(NamedTuple):
    """A sentence in one language as an expression, and the same sentence in the other language."""

    pattern: Any
    fallbacks: dict[str, str | None]  # the names of its values, each with the words that stand for a missing one
    told: str

    def retold(self, text: str, retell: _Words) -> str | None:
        try:
            found = self.pattern.fullmatch(text)
        except UnicodeEncodeError:  # half of a surrogate pair: no sentence of ours
            return None
        if found is None:
            return None
        values = {name: found.group(name) for name in self.fallbacks}
        known = {name: None if self.fallbacks[name] == value else retell.value(value) for name, value in values.items()}
        return fill(self.told, known)


class _Words:
    """All templates from one language into the other, those with most words of their own first."""

    def __init__(self, source: str, target: str, titles: Iterable[Text]) -> None:
        self._sentences = _templates((text for name in TABLES for text in table(name).values()), source, target)
        steps = (text for name, text in table("sentences").items() if name in _STEPS or name.startswith("outcome_"))
        self._steps = _templates(steps, source, target)
        self._ends = _templates((table("timeline_sentences")[name] for name in _ENDS), source, target)
        inner = (text for name in TABLES for key, text in table(name).items() if key not in _SUMMARIES)
        self._values = [*_templates(inner, source, target), *_templates(titles, source, target)]

    def text(self, text: str) -> str:
        """A sentence of ours; unknown ones as they are."""
        return self._first(self._sentences, text) or text

    def step(self, text: str) -> str:
        """A step of the reasoning, in which other sentences stand."""
        return self._first(self._steps, text) or text

    def value(self, text: str) -> str:
        """What stands inside a sentence: a number, a name, a rule's title, points, or a sentence again."""
        if len(text) < _LEAST_WORDS:
            return text
        points = [_POINT.fullmatch(part) for part in text.split("; ")]
        if all(points):
            return "; ".join(f"{point[1]} {self.text(point[2])}" for point in points if point)
        return self._first(self._values, text) or self._listed(text)

    def event(self, text: str) -> str:
        """An event of ours: a rule's title with an exit code behind it, or the exit code alone."""
        if (alone := self._first(self._ends, text)) is not None:
            return alone
        title, _, code = text.removesuffix(")").rpartition(" (")
        told = self._first(self._ends, code)
        return text if told is None else f"{self.value(title)} ({told})"

    def _listed(self, text: str) -> str:
        for comma in ("; ", ", "):
            if comma in text:
                return comma.join(self._first(self._values, part) or part for part in text.split(comma))
        return text

    def _first(self, templates: Sequence[_Template], text: str) -> str | None:
        return next((told for template in templates if (told := template.retold(text, self)) is not None), None)


def retold(diagnosis: Diagnosis, lang: str, rulebook: Matcher) -> Diagnosis:
    """The diagnosis in another language; itself where it is told in that language already."""
    source = language_of(diagnosis)
    if source == lang:
        return diagnosis
    words = _words(source, lang, rulebook)
    text = words.text
    told = replace(
        diagnosis,
        confidence_reasons=[text(reason) for reason in diagnosis.confidence_reasons],
        points=_points(diagnosis.points, words),
        explanation=[words.step(step) for step in diagnosis.explanation],
        alternatives=[replace(item, points=_points(item.points, words)) for item in diagnosis.alternatives],
        ruled_out=[replace(item, why=_why_ruled_out(item.why, words)) for item in diagnosis.ruled_out],
        gaps=[replace(gap, text=text(gap.text)) for gap in diagnosis.gaps],
        timeline=_timeline(diagnosis, words),
    )
    _fill_rule_texts(told, lang, rulebook, words)
    if told.memory is not None and (again := memory_of(told, lang)) is not None:
        told.memory = replace(told.memory, basis=again.basis)
    return told


def language_of(diagnosis: Diagnosis) -> str:
    """The language that a diagnosis is told in, by the first step of its reasoning; English where it has none."""
    first = diagnosis.explanation[0] if diagnosis.explanation else ""
    for lang in _LANGUAGES[1:]:
        heads = (sentence(f"outcome_{outcome}", lang, {"reason": ""}).strip() for outcome in _OUTCOMES)
        if first.startswith(tuple(heads)):
            return lang
    return "en"


def retold_notes(notes: Iterable[Note], lang: str) -> list[Note]:
    """Notes on the input in another language; the steps that make them speak English."""
    if lang == "en":
        return list(notes)
    templates = _note_templates(lang)
    plain = _Words("en", lang, ())
    return [
        replace(note, text=next((told for one in templates if (told := one.retold(note.text, plain))), note.text))
        for note in notes
    ]


_OUTCOMES = ("failed", "succeeded", "cancelled", "running", "unknown")


def _fill_rule_texts(diagnosis: Diagnosis, lang: str, rulebook: Matcher, words: _Words) -> None:
    root = diagnosis.root_cause
    rule = _rule_of(root, rulebook)
    if root is None or rule is None:
        diagnosis.summary = words.text(diagnosis.summary)
        diagnosis.remediation = [
            replace(item, title=words.text(item.title), steps=[words.text(step) for step in item.steps])
            for item in diagnosis.remediation
        ]
        return
    texts = CaseTexts(diagnosis.job, lang, Finding(rule, message_of(""), root.values), root)
    diagnosis.summary = texts.summary()
    diagnosis.retry = Retry(advice=diagnosis.retry.advice, why=texts.why())
    told = texts.remedies()
    if diagnosis.category == "stockout" and told:
        told[0].steps += capacity_steps(diagnosis.job, root.values.get("region"), lang)
    rest = [replace(item, title=words.text(item.title)) for item in diagnosis.remediation[len(told) :]]
    diagnosis.remediation = told + rest


def _rule_of(root: RootCause | None, rulebook: Matcher) -> Rule | None:
    if root is None or root.rule is None:
        return None
    code = root.rule.removeprefix("exit_code.")
    if code != root.rule and (row := exit_causes().get(number(code) or 0)) is not None:
        return Rule(id=root.rule, title=row.title, role=Role.ROOT, when=Condition(regex="exit"), cause=row.cause)
    return rulebook.rule_of(root.rule)


def _timeline(diagnosis: Diagnosis, words: _Words) -> Any:
    timeline = diagnosis.timeline
    attempts = [
        replace(attempt, replicas=[
            replace(lane, runs=[replace(run, why=words.text(run.why) if run.why else run.why) for run in lane.runs])
            for lane in attempt.replicas
        ])
        for attempt in timeline.attempts
    ]  # fmt: skip
    events = [
        replace(event, text=words.event(event.text)) if event.kind == "failure" else event for event in timeline.events
    ]
    return replace(timeline, attempts=attempts, events=events, remarks=[words.text(line) for line in timeline.remarks])


def _points(points: Iterable[Point], words: _Words) -> list[Point]:
    return [replace(point, reason=words.text(point.reason)) for point in points]


def _why_ruled_out(why: str, words: _Words) -> str:
    rule, colon, reason = why.partition(": ")
    return f"{rule}{colon}{words.text(reason)}"


@lru_cache(maxsize=4)
def _words(source: str, target: str, rulebook: Matcher) -> _Words:
    return _Words(source, target, [rule.title for rule in rulebook.rules])


@lru_cache(maxsize=2)
def _note_templates(lang: str) -> list[_Template]:
    return _templates(table("note_sentences").values(), "en", lang)


def _templates(texts: Iterable[Text], source: str, target: str) -> list[_Template]:
    made = []
    for text in texts:
        told, ours = text.of(source), text.of(target)
        letters = len(PLACE.sub("", told).strip())
        if letters >= _LEAST_WORDS:
            made.append((-letters, told, ours))
    return [_template(told, ours) for _, told, ours in sorted(set(made))]


def _template(told: str, ours: str) -> _Template:
    parts: list[str] = []
    fallbacks: dict[str, str | None] = {}
    at = 0
    for place in PLACE.finditer(told):
        again = place[1] in fallbacks
        parts += [re.escape(told[at : place.start()]), "(?:.*?)" if again else f"(?P<{place[1]}>.*?)"]
        fallbacks.setdefault(place[1], place[2])
        at = place.end()
    parts.append(re.escape(told[at:]))
    return _Template(re2.compile("(?s)" + "".join(parts)), fallbacks, ours)
