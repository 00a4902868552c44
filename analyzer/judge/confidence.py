"""How sure a verdict is: the margin to the runner-up and the agreement of independent witnesses."""

from __future__ import annotations

from collections.abc import Sequence

from analyzer.judge.candidates import Candidate
from analyzer.judge.outcome import Outcome
from analyzer.judge.sentences import sentence
from analyzer.model import Origin
from analyzer.rulebook import Finding, Role


def confidence_of(
    chosen: Candidate | None,
    rivals: Sequence[Candidate],
    findings: Sequence[Finding],
    outcome: Outcome,
    lang: str,
) -> tuple[float, list[str]]:
    """A number from 0 to 1 and the plain sentences that it rests on."""
    if chosen is None:
        return (0.9, [outcome.reason]) if outcome.stated else (0.4, [outcome.reason])
    reasons = []
    value = 0.42 + min(0.3, max(0.0, chosen.score) / 300)
    runner_up = max((rival.score for rival in rivals if rival.cause != chosen.cause), default=None)
    if runner_up is None:
        value += 0.2
        reasons.append(sentence("no_other_cause", lang))
    else:
        margin = chosen.score - runner_up
        value += min(0.2, max(0.0, margin) / 150)
        reasons.append(sentence("leads_by", lang, {"points": f"{margin:.0f}"}))
    witnesses = _witnesses(chosen, findings)
    value += min(0.2, 0.08 * len(witnesses))
    reasons += [sentence(f"agrees_{witness}", lang) for witness in witnesses]
    against = [point.reason for point in chosen.points if point.points < 0]
    value -= min(0.25, 0.1 * len(against))
    reasons += [sentence("against_it", lang, {"reason": reason}) for reason in against]
    return round(max(0.05, min(0.98, value)), 2), reasons


def _witnesses(chosen: Candidate, findings: Sequence[Finding]) -> list[str]:
    """Speakers other than the proving message's own who say the same cause or name the same replica as failed."""
    own = chosen.finding.message.origin
    agreeing = {
        finding.message.origin
        for finding in findings
        if finding.message.origin is not Origin.TEXT
        and finding.message.origin is not own
        and (
            finding.rule.category == chosen.finding.rule.category
            or (finding.role is Role.VERDICT and finding.rule.cause is None and finding.replica == chosen.replica)
        )
    }
    return sorted(agreeing)
