"""Markdown for issues and chat, safe against hostile text.

Log text stands in code only, behind a fence longer than any run of backticks in it. Every other text is escaped sign
by sign, and mentions, references and bare addresses are broken up, since GitHub makes links of them after rendering.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from analyzer.model.diagnosis import Diagnosis, Evidence, Remedy, Report
from analyzer.model.order import in_order
from analyzer.report.chart import run_rows
from analyzer.report.language import (
    CATEGORY_NAMES,
    OUTCOME_NAMES,
    PLATFORM_NAMES,
    RETRY_NAMES,
    RUN_NAMES,
    Language,
    language,
)
from analyzer.report.neutral import clipped, shown, shown_line, web_link
from analyzer.report.proof import proof_of, source_of, steps_of

_MOST_RUNS = 40
_BAR = "\\|"  # the only escape that counts inside code, and only in a table
# Signs of markup anywhere, those that begin a block only at the start, and colons that make an address or an emoji.
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~&$^]|^[+\-=!(]|^\d+(?=[.)])|:(?=[\w+/-])|(?i:www)(?=\.))")
_BACKTICKS = re.compile(r"`+")


def render_markdown(report: Report, lang: str = "en") -> str:
    """The report as GitHub-flavoured Markdown: one job in full, or a list of jobs and then each in full."""
    words = language(lang)
    diagnoses = in_order(report.diagnoses)
    blocks: list[str] = []
    if len(diagnoses) != 1:
        failed = sum(diagnosis.outcome == "failed" for diagnosis in diagnoses)
        total = words.count("{number} job", "{number} jobs", len(diagnoses))
        blocks.append(f"# {total}, {words.count('{number} failed', '{number} failed', failed)}")
        if diagnoses:
            blocks.append("\n".join(_listed(diagnosis, words) for diagnosis in diagnoses))
    for diagnosis in diagnoses:
        blocks += _job(diagnosis, words)
    notes = [f"- {plain(note.text, 400)}" for note in report.notes[:20]]
    if notes:
        blocks += [f"### {words.say('Notes on the input')}", "\n".join(notes)]
    return "\n\n".join(blocks) + "\n"


def plain(text: str, limit: int = 600) -> str:
    """A text as one line of Markdown that renders as exactly that text: no markup, link, mention or reference."""
    escaped = _SPECIAL.sub(_escape, shown_line(text, limit))
    return escaped.replace("@", "@<!-- -->").replace("\\#", "\\#<!-- -->")


def code(text: str, limit: int = 200) -> str:
    """A text as inline code."""
    line = shown_line(text, limit)
    fence = "`" * (max((len(run) for run in _BACKTICKS.findall(line)), default=0) + 1)
    pad = " " if line.startswith("`") or line.endswith("`") or not line else ""
    return f"{fence}{pad}{line}{pad}{fence}"


def fenced(text: str, kind: str = "text", *, lines: int = 40, characters: int = 6000) -> str:
    """A text as a block of code that nothing in it can end."""
    body, _ = clipped(shown(text), lines=lines, characters=characters)
    fence = "`" * max(max((len(run) for run in _BACKTICKS.findall(body)), default=0) + 1, 3)
    return f"{fence}{kind}\n{body.rstrip()}\n{fence}"


def _escape(found: re.Match[str]) -> str:
    sign = found[0]
    return f"{sign}\\" if sign.isalnum() else f"\\{sign}"  # a number or `www` keeps its letters, the dot is escaped


def _listed(diagnosis: Diagnosis, words: Language) -> str:
    outcome = words.say(OUTCOME_NAMES[diagnosis.outcome])
    return f"- **{outcome}** {code(diagnosis.job.id, 80)}: {plain(diagnosis.summary, 240)}"


def _job(diagnosis: Diagnosis, words: Language) -> Iterator[str]:
    say, job, root = words.say, diagnosis.job, diagnosis.root_cause
    category = "" if diagnosis.outcome in ("succeeded", "running") else f": {say(CATEGORY_NAMES[diagnosis.category])}"
    yield f"## {say(OUTCOME_NAMES[diagnosis.outcome])}{category}"
    yield f"**{plain(diagnosis.summary)}**"
    names = [
        say(PLATFORM_NAMES.get(job.platform, job.platform)),
        *(code(name, 80) for name in (job.project, job.region, job.id) if name),
    ]
    yield " · ".join([plain(names[0], 40), *names[1:]])
    if (proof := proof_of(diagnosis)) is not None and root is not None:
        yield f"### {say('The line that proves it') if root.rule else say('The most telling lines')}"
        yield fenced(proof.line if root.rule else proof.evidence.text)
        yield _whereabouts(proof.evidence, diagnosis, words)
    if diagnosis.remediation:
        yield f"### {say('Do this now')}"
        yield from _remedy(diagnosis.remediation[0], words)
    if diagnosis.retry.advice:
        why = f" – {plain(diagnosis.retry.why, 400)}" if diagnosis.retry.why else ""
        yield f"**{say('Try again?')}** {say(RETRY_NAMES[diagnosis.retry.advice])}{why}"
    reasons = "; ".join(plain(reason, 300) for reason in diagnosis.confidence_reasons[:5])
    yield f"**{say('Confidence')}** {words.share(diagnosis.confidence)}" + (f" – {reasons}" if reasons else "")
    yield from _details(diagnosis, words)


def _whereabouts(evidence: Evidence, diagnosis: Diagnosis, words: Language) -> str:
    root = diagnosis.root_cause
    parts = [code(root.replica, 80)] if root is not None and root.replica else []
    if evidence.time is not None:
        parts.append(words.moment(evidence.time))
    if root is not None and root.exit_code is not None:
        parts.append(
            words.say("exit code {code}", code=root.exit_code) + (f" ({plain(root.signal, 20)})" if root.signal else "")
        )
    if evidence.source:
        parts.append(code(source_of(evidence)))
    if address := web_link(evidence.link):
        parts.append(f"[{words.say('Open in Logs Explorer')}](<{address}>)")
    return " · ".join(parts)


def _remedy(remedy: Remedy, words: Language) -> Iterator[str]:
    yield f"**{plain(remedy.title)}**"
    if remedy.applies_if:
        yield f"*{words.say('If {condition}', condition=plain(remedy.applies_if, 300))}*"
    if steps := steps_of(remedy):
        yield "\n".join(f"{number}. {plain(step)}" for number, step in enumerate(steps, 1))
    if remedy.commands:
        yield fenced("\n".join(shown_line(command) for command in remedy.commands), "sh")
    if remedy.again:
        yield f"{words.say('If it comes back:')} {plain(remedy.again)}"
    sources = [address for address in map(web_link, remedy.sources) if address]
    if sources:
        yield f"{words.say('Sources:')} " + ", ".join(f"<{address}>" for address in sources)


def _details(diagnosis: Diagnosis, words: Language) -> Iterator[str]:
    say, root = words.say, diagnosis.root_cause
    if rows := run_rows(diagnosis.timeline):
        yield f"### {say('Timeline')}"
        head = [say(name) for name in ("Attempt", "Replica", "Start", "End", "How it ended", "Exit code")]
        lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
        for row in rows[:_MOST_RUNS]:
            run = row.run
            cells = [str(row.attempt), code(row.replica, 80), words.moment(run.start), words.moment(run.end)]
            cells += [
                say(RUN_NAMES.get(run.reason, "end not known")),
                "" if run.exit_code is None else str(run.exit_code),
            ]
            lines.append(f"| {' | '.join(cell.replace('|', _BAR) for cell in cells)} |")
        yield "\n".join(lines)
        if len(rows) > _MOST_RUNS:
            yield words.count("… and {number} more run", "… and {number} more runs", len(rows) - _MOST_RUNS)
    if root is not None and root.rule and (len(root.evidence) > 1 or "\n" in root.evidence[0].text.strip()):
        yield f"### {say('Evidence')}"
        yield from (fenced(evidence.text) for evidence in root.evidence[:6])
    if diagnosis.remediation[1:]:
        yield f"### {say('Other things to do')}"
        for remedy in diagnosis.remediation[1:6]:
            yield from _remedy(remedy, words)
    if diagnosis.gaps:
        yield f"### {say('What the input lacks')}"
        yield "\n".join(
            f"- {plain(gap.text, 400)}" + (f" {code(gap.command, 600)}" if gap.command else "")
            for gap in diagnosis.gaps[:10]
        )
