"""The catalogue of rules: a page a folder of `rules/`, and the figures of its first page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import groupby
from typing import TYPE_CHECKING

from site_markup import block, code, codes, link, listing, table, text, with_generated

from analyzer.resources import data_folder
from analyzer.rulebook.load import load_folder
from analyzer.rulebook.schema import Condition, Example, Role, Rule, Text, expressions
from analyzer.rulebook.text import fill, fill_command, places

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

FIRST_PAGE = "reference/rules/index.md"
TITLES = {
    "cascade": ("Cascades", "What other processes show when one of them dies. A cascade is never the cause."),
    "internal": ("Internal errors", "The service failed on its own side."),
    "lifecycle": ("Life cycle", "What services, schedulers and launchers say of starts, exits and restarts."),
    "noise": ("Noise", "Loud but harmless lines. A message that such a rule names gives no candidate."),
    "progress": ("Progress", "Signs of life: steps, checkpoints, the end of the training."),
    "teardown": ("Teardown", "What is logged while a job is taken down after its verdict."),
    "verdict": ("Verdicts", "Conclusions of the service, scheduler or launcher."),
}
RETRY = {
    "as_is": "try again as it is", "elsewhere": "try again elsewhere", "after_fix": "try again after the fix",
    "after_quota": "try again once there is quota", "never": "trying again does not help",
}  # fmt: skip


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the pages of the catalogue."""
    from mkdocs.structure.files import File

    for folder, rules in by_folder():
        page = "\n\n".join(page_of(folder, rules))
        files.append(File.generated(config, f"reference/rules/{folder}.md", content=page))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Puts the figures into the first page."""
    if page.file.src_uri != FIRST_PAGE:
        return markdown
    return with_generated(markdown, "figures", figures())


@cache
def by_folder() -> list[tuple[str, list[Rule]]]:
    """All bundled rules by the first part of their id."""
    rules = sorted(load_folder(data_folder("rules")), key=lambda rule: rule.id)
    return [(folder, list(found)) for folder, found in groupby(rules, lambda rule: rule.id.split(".", 1)[0])]


def figures() -> str:
    """How many rules there are, by page and role."""
    roles = list(Role)
    rows = []
    for folder, rules in by_folder():
        counts = Counter(rule.role for rule in rules)
        address = f'<a href="{folder}.html">{text(_title(folder))}</a>'
        rows.append([address, str(len(rules)), *(str(counts[role] or "") for role in roles)])
    total = Counter(rule.role for _, rules in by_folder() for rule in rules)
    rows.append(["all", str(sum(total.values())), *(str(total[role]) for role in roles)])
    return block(table(["page", "rules", *(role.value for role in roles)], rows))


def page_of(folder: str, rules: Sequence[Rule]) -> Iterator[str]:
    """The blocks of one page."""
    yield f"# {_title(folder)}"
    if folder in TITLES:
        yield TITLES[folder][1]
    number = "1 rule" if len(rules) == 1 else f"{len(rules)} rules"
    yield f"{number}. [How to read this page](index.md)."
    for rule in rules:
        yield f'## `{rule.id}` {{ #{rule.id} data-toc-label="{rule.id.removeprefix(folder + ".")}" }}'
        yield block(*_parts(rule))


def _title(folder: str) -> str:
    return TITLES[folder][0] if folder in TITLES else folder.replace("_", " ").capitalize()


def _parts(rule: Rule) -> Iterator[str]:
    yield f"<p><strong>{_told(rule.title)}</strong></p>"
    yield f"<p>{' · '.join(_facts(rule))}</p>"
    if rule.why is not None:
        yield f"<p>{_told(rule.why)}</p>"
    if rule.remedy:
        yield "<p>What to do:</p><ol>"
        for step in rule.remedy:
            condition = f" ({_told(step.applies_if)})" if step.applies_if else ""
            command = listing(fill_command(step.command, {})) if step.command else ""
            yield f"<li>{_told(step.do)}{condition}{command}</li>"
        yield "</ol>"
    if rule.again is not None:
        yield f"<p>If it comes back: {_told(rule.again)}</p>"
    if rule.explains:
        yield f"<p>What follows from it: {codes(rule.explains)}</p>"
    yield from _recognised(rule)
    if rule.sources:
        yield "<p>Sources:</p><ul>" + "".join(f"<li>{link(source)}</li>" for source in rule.sources) + "</ul>"


def _facts(rule: Rule) -> Iterator[str]:
    yield f"role {code(rule.role.value)}"
    if rule.cause is not None:
        yield f"cause {code(rule.cause)}"
    if rule.event is not None:
        yield f"event {code(rule.event)}"
    yield f"weight {rule.weight}"
    if rule.platforms:
        yield f"on {codes(rule.platforms)}"
    yield f"said by {codes(sorted(origin.value for origin in rule.origins))}"
    if rule.retry is not None:
        yield text(RETRY[rule.retry])


def _recognised(rule: Rule) -> Iterator[str]:
    """How the rule knows its messages, folded away, and one example."""
    shown = [example for example in rule.examples.match[:1] if isinstance(example, str | Example)]
    for example in shown:
        message = example if isinstance(example, str) else example.text
        if message:
            yield f"<p>For example:</p>{listing(message)}"
    found = _signs(rule.when)
    if found:
        yield f"<details><summary>Recognised by</summary>{listing(chr(10).join(found), searched=False)}</details>"


def _signs(condition: Condition) -> list[str]:
    """Expressions, exception types, structured fields and other rules that a condition looks at."""
    found = expressions(condition)
    for part in _leaves(condition):
        names = [part.exception] if isinstance(part.exception, str) else part.exception or []
        found += [f"exception {name}" for name in names]
        found += [f"field {name}: {value}" for name, value in (part.fields or {}).items()]
        found += [f"finding {part.finding}"] if part.finding else []
        found += [f"no finding {part.absent}"] if part.absent else []
        found += [f"in this order: {', '.join(part.sequence)}"] if part.sequence else []
    return found


def _leaves(condition: Condition) -> Iterator[Condition]:
    yield condition
    for part in (*(condition.any or ()), *(condition.all or ()), *([condition.not_] if condition.not_ else ())):
        yield from _leaves(part)


def _told(told: Text) -> str:
    """A text of a rule; where a value of the case goes stands the value's name: ‹name›."""
    return text(fill(told.en, {name: f"‹{name}›" for name in places(told.en)}))
