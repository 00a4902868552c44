"""Says a diagnosis in words: summary, reason, remedy, with the case's own values."""

from __future__ import annotations

import shlex

from analyzer.judge.commands import fitting
from analyzer.judge.course import REFUTES
from analyzer.judge.sentences import sentence
from analyzer.model import Diagnosis, Job, Remedy, RootCause, Timeline
from analyzer.rulebook import Finding
from analyzer.rulebook.text import fill, fill_command


class CaseTexts:
    """The texts of one case in one language."""

    def __init__(self, job: Job, lang: str, finding: Finding | None = None, root: RootCause | None = None) -> None:
        self.job, self.lang, self.finding, self.root = job, lang, finding, root
        self.values: dict[str, str | None] = {
            "job": job.id,
            "project": job.project,
            "region": job.region,
            "machine_type": job.machine_type,
            "accelerator": job.accelerator,
            "platform": job.platform,
        }
        if root is not None:
            self.values |= {
                "replica": root.replica,
                "exit_code": None if root.exit_code is None else str(root.exit_code),
            }
        if finding is not None:
            self.values |= {name: value.strip() for name, value in finding.values.items()}

    def say(self, name: str, **more: str | None) -> str:
        """A sentence filled with the case's values."""
        return sentence(name, self.lang, self.values | more)

    def summary(self) -> str:
        """One sentence: what failed, where, why."""
        assert self.finding is not None
        assert self.root is not None
        rule = self.finding.rule
        title = fill(rule.title.of(self.lang), self.values)
        told = self.root.exit_code is None or _tells_code(title, self.root.exit_code)
        code = "" if told else self.say("code")
        who = self.root.replica if self.root.replica not in (None, "service") else None
        if rule.category in ("cancelled", "stockout", "quota") or who is None:
            kind = "ended" if rule.category == "cancelled" else "failed_job"
            return sentence(kind, self.lang, {"title": title, "when": "", "code": code}) + "."
        if title.startswith(f"{who} "):  # the title has told already who failed
            return f"{title}{code}."
        return sentence("failed", self.lang, {"who": who, "title": title, "when": "", "code": code}) + "."

    def why(self) -> str:
        """The reason in plain words."""
        assert self.finding is not None
        rule = self.finding.rule
        return fill(rule.why.of(self.lang), self.values) if rule.why else ""

    def remedies(self) -> list[Remedy]:
        """What to do, first the one thing to do now; the last says what to do if it comes back."""
        assert self.finding is not None
        rule = self.finding.rule
        found = []
        for number, step in enumerate(rule.remedy):
            text = fill(step.do.of(self.lang), self.values)
            command = fitting(step.command, self.job.platform) if step.command else None
            found.append(
                Remedy(
                    title=text,
                    steps=[text],
                    commands=[fill_command(command, self.values)] if command else [],
                    sources=list(rule.sources) if number == 0 else [],
                    applies_if=fill(step.applies_if.of(self.lang), self.values) if step.applies_if else None,
                    again=fill(rule.again.of(self.lang), self.values) if rule.again and number == 0 else None,
                )
            )
        return found

    def success(self, timeline: Timeline) -> str:
        """The sentence on a success."""
        count = timeline.restarts_total
        trials = {lane.trial: lane.runs[-1].reason for attempt in timeline.attempts for lane in attempt.replicas}
        lost = [trial for trial, reason in trials.items() if trial is not None and reason in REFUTES]
        if lost and not count:
            return self.say("success_trials", lost=str(len(lost)), trials=str(len(trials)))
        if not count:
            return self.say("success")
        return self.say("success_after_one") if count == 1 else self.say("success_after", restarts=str(count))

    def cancelled(self) -> str:
        """The sentence on a job that was stopped from outside."""
        return self.say("cancelled")

    def running(self, timeline: Timeline) -> str:
        """The sentence on a job that still runs."""
        return self.say("running")

    def unknown_kind(self, diagnosis: Diagnosis) -> str:
        """What kind of not knowing it is: `no_logs`, `no_replica_logs`, `exit_code_only`, …"""
        kinds = {gap.kind for gap in diagnosis.gaps}
        code = diagnosis.root_cause.exit_code if diagnosis.root_cause else None
        if "no_log" in kinds:
            return "no_logs"
        if "no_replica_log" in kinds:
            return "no_replica_logs"
        if code in (9, 137, -9):
            return "sigkill_sender_unknown"
        if code is not None:
            return "exit_code_only"
        return "log_ends" if diagnosis.outcome == "unknown" else "no_cause_found"

    def unknown(self, diagnosis: Diagnosis) -> str:
        """The sentence where the cause is not known."""
        root = diagnosis.root_cause
        if root is not None and root.exit_code is not None:
            return self.say("unknown_code", who=root.replica, exit_code=str(root.exit_code))
        return self.say("unknown_failed" if diagnosis.outcome == "failed" else "unknown_end")

    def unknown_remedy(self, diagnosis: Diagnosis) -> list[Remedy]:
        """What would settle an unknown cause."""
        commands = [gap.command for gap in diagnosis.gaps if gap.command]
        commands.append(f"diagnose rules new CATEGORY.NAME --from {shlex.quote(diagnosis.job.id)} --logs PATH")
        return [Remedy(title=self.say("settle_title"), steps=[self.say("settle_step")], commands=commands)]


def _tells_code(title: str, code: int) -> bool:
    """Whether a title has named the exit code; the same number may stand in it for something else."""
    return any(f"{before}{code}{after}" in f"{title} " for before in ("ode ", "(") for after in (" ", ")", ",", ":"))
