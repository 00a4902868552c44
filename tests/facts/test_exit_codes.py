"""An exit code is read with its platform's convention, and what it cannot prove is said too."""

from __future__ import annotations

import pytest

from analyzer.errors import UsageError
from analyzer.facts.exit_codes import child_signal, explain_exit, signal_name


@pytest.mark.parametrize(
    ("code", "platform", "signal"),
    [
        (137, "", "SIGKILL"),
        (134, "gke", "SIGABRT"),
        (139, "vertex", "SIGSEGV"),
        (143, "batch", "SIGTERM"),
        (-9, "", "SIGKILL"),
        (9, "vertex", "SIGKILL"),
        (11, "ai_platform", "SIGSEGV"),
        (9, "gke", None),
        (9, "", None),
        (1, "vertex", None),
        (0, "", None),
        (247, "", None),
        (255, "", None),
    ],
)
def test_signal_of_an_exit_code(code: int, platform: str, signal: str | None) -> None:
    """128+n and -n name a signal everywhere, a bare n only where the service reports it so."""
    assert signal_name(code, platform) == signal


@pytest.mark.parametrize(
    ("code", "signal"), [(247, "SIGKILL"), (245, "SIGSEGV"), (250, "SIGABRT"), (255, None), (137, None)]
)
def test_signal_of_a_launchers_child(code: int, signal: str | None) -> None:
    """A Python launcher that passes on -n ends with 256-n."""
    assert child_signal(code) == signal


def test_137_is_explained() -> None:
    """It names memory first, but lists all that kills, with the signs that decide."""
    found = explain_exit(137, "vertex")
    assert found.signal == "SIGKILL"
    assert found.likely[0].cause == "out_of_memory.host"
    assert {one.cause for one in found.likely} >= {"preemption.*", "timeout.liveness", "cancelled.*"}
    assert found.telling[0].cause == "out_of_memory.host"
    assert found.sources


@pytest.mark.parametrize("code", [6, 134, 11, 139])
def test_transient_codes_are_said_to_be_retried(code: int) -> None:
    """The documented list of possibly transient codes: the whole job is started again up to three times."""
    for platform in ("vertex", "ai_platform"):
        assert "up to three times" in explain_exit(code, platform).service
        assert "Documented as possibly transient" in explain_exit(code, platform).service


def test_code_1_is_permanent_and_proves_nothing() -> None:
    """The catch-all sends the reader to the message."""
    found = explain_exit(1, "vertex")
    assert found.service.startswith("Permanent")
    assert "read the message" in found.tell_apart


@pytest.mark.parametrize("lang", ["en", "de"])
def test_every_possible_code_has_an_answer(lang: str) -> None:
    """No code that a process can end with leaves the user alone."""
    for code in [*range(-64, 256), *range(50000, 50007)]:
        found = explain_exit(code, lang=lang)
        assert found.meaning, code
        assert found.service, code
        assert found.number == code
        assert all(one.words for one in found.likely), code


@pytest.mark.parametrize(
    ("written", "number", "signal"),
    [
        ("137", 137, "SIGKILL"),
        (" 137 ", 137, "SIGKILL"),
        ("9(SIGKILL)", 9, "SIGKILL"),
        ("SIGKILL", 137, "SIGKILL"),
        ("kill", 137, "SIGKILL"),
        ("0:9", 137, "SIGKILL"),
        ("1:0", 1, None),
    ],
)
def test_forms_of_an_exit_code(written: str, number: int, signal: str | None) -> None:
    """The service's form, a signal's name and Slurm's pair mean the same thing."""
    found = explain_exit(written)
    assert (found.number, found.signal) == (number, signal)


@pytest.mark.parametrize("reason", ["OOMKilled", "oomkilled", "ContainerStatusUnknown", "CrashLoopBackOff", "0:125"])
def test_reasons_are_explained_too(reason: str) -> None:
    """Kubernetes' reasons and Slurm's special pairs stand beside the codes."""
    found = explain_exit(reason)
    assert found.number is None
    assert found.meaning


@pytest.mark.parametrize("wrong", ["256", "300", "-65", "50007", "1.5", "", "no such thing", "13 7", "1" * 40])
def test_what_cannot_be_an_exit_code(wrong: str) -> None:
    """It is refused with the forms that are possible."""
    with pytest.raises(UsageError, match="give a number from 0 to 255"):
        explain_exit(wrong)


def test_what_the_service_does_depends_on_the_platform() -> None:
    """Kubernetes, Batch and Slurm have rules of their own."""
    texts = {explain_exit(134, platform).service for platform in ("vertex", "gke", "batch", "slurm")}
    assert len(texts) == 4
    assert "Spot VM" in explain_exit(50001, "batch").meaning


def test_a_launchers_child_is_not_what_the_service_sees() -> None:
    """A negative code stands in a launcher's message; the container ends with another."""
    assert "launcher's own exit code" in explain_exit(-6, "vertex").service
