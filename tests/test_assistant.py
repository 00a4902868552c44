"""The tools for assistants, spoken to over standard input and output by the protocol's own client."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest

from analyzer.errors import NothingToDiagnose, UsageError

mcp = pytest.importorskip("mcp", reason="the extra mcp is not installed: the tools for assistants go unchecked")

from mcp.client.stdio import stdio_client  # noqa: E402

from analyzer.assistant import Tools  # noqa: E402

ROOT = Path(__file__).parents[1]
DEMO = ROOT / "fixtures" / "demo"
EXPORT = str(DEMO / "vertex-restart-then-failed.json")


async def _ask(calls: list[tuple[str, dict[str, Any]]]) -> tuple[list[str], list[Any]]:
    program = [sys.executable, "-m", "analyzer", "mcp", "--root", str(DEMO)]
    server = mcp.StdioServerParameters(command=program[0], args=program[1:], cwd=str(ROOT))
    async with stdio_client(server) as (read, write), mcp.ClientSession(read, write) as session:
        await session.initialize()
        tools = [tool.name for tool in (await session.list_tools()).tools]
        return tools, [await session.call_tool(name, arguments) for name, arguments in calls]


@pytest.fixture(scope="module")
def asked() -> tuple[list[str], list[Any]]:
    """One conversation: each tool once, then three calls that must be refused."""
    return asyncio.run(_ask([
        ("diagnose", {"paths": [EXPORT]}), ("explain_exit_code", {"code": "137"}),
        ("memory_table", {"machine_type": "n1-standard-8", "peak": "13GiB"}),
        ("diagnose", {"paths": ["/etc/hostname"]}), ("scan_summary", {"folder": str(DEMO)}),
        ("memory_table", {"machine_type": "no-such-machine"}),
    ]))  # fmt: skip


def test_the_tools_are_offered(asked: tuple[list[str], list[Any]]) -> None:
    """All four, by name."""
    assert asked[0] == ["diagnose", "scan_summary", "explain_exit_code", "memory_table"]


def test_a_diagnosis_is_structured_and_proved(asked: tuple[list[str], list[Any]]) -> None:
    """Cause, proving line, remedy."""
    answer = asked[1][0]
    assert not answer.is_error
    told = answer.structured_content["diagnoses"][0]
    assert told["cause"] == "user_exception.key_error"
    assert told["evidence"][0]["text"] == "KeyError: 'unlabelled'"
    assert told["remediation"][0]["do"]


def test_facts_are_told(asked: tuple[list[str], list[Any]]) -> None:
    """Exit codes and memory tables as the command line tells them."""
    code, memory = asked[1][1], asked[1][2]
    assert "SIGKILL" in str(code.structured_content)
    assert "n1-standard-8" in str(memory.structured_content)


@pytest.mark.parametrize("number", [3, 4, 5])
def test_refusals_are_errors_of_the_tool_in_one_sentence(asked: tuple[list[str], list[Any]], number: int) -> None:
    """The conversation goes on after each."""
    answer = asked[1][number]
    assert answer.is_error
    assert "Traceback" not in answer.content[0].text


@pytest.mark.parametrize("path", ["/etc/passwd", "../x", "fixtures/demo/../../x", "gs://b/o", "-", "fixtures/dem*"])
def test_nothing_is_read_outside_the_allowed_folders(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever an assistant was talked into."""
    monkeypatch.chdir(ROOT)
    with pytest.raises(UsageError):
        Tools([DEMO]).diagnose([path])


def test_a_job_that_is_not_there_is_said_with_those_that_are() -> None:
    """So that the assistant can ask again."""
    with pytest.raises(NothingToDiagnose, match="jobs: "):
        Tools([DEMO]).diagnose([EXPORT], job_id="nope")


def test_a_scan_is_summed_up(tmp_path: Path) -> None:
    """Causes and kinds of failure, the most frequent first."""
    row = '{"id":"%d","outcome":"failed","category":"stockout","cause":"%s","fingerprint":"%s","lost_seconds":3600}'
    lines = [row % (n, "region", "a") for n in range(3)] + [row % (9, "zone", "b"), '{"id":"s","outcome":"succeeded"}']
    (tmp_path / "jobs.jsonl").write_text("\n".join(lines))
    told = Tools([tmp_path]).scan_summary(str(tmp_path))
    assert (told["jobs"], told["lost_hours"]) == (5, 4.0)
    assert told["causes"] == {"stockout.region": 3, "stockout.zone": 1}
    assert [group["jobs"] for group in told["same_failures"]] == [3, 1]
