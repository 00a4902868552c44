"""Inputs that a fuzzer found worth keeping are replayed, and each target meets bytes that nobody has thought of."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from targets import TARGETS, attempt

CORPUS = Path(__file__).parents[2] / "fixtures" / "fuzz"
INPUTS = sorted(CORPUS.glob("*/*"))
WORDS = [
    b"{", b"}", b"[", b'"', b":", b",", b"\n", b"\r", b"\t", b" ", b"---\n", b"- ", b"&a ", b"*a", b"!!python/object ",
    b"Traceback (most recent call last):\n", b'  File "a.py", line 1, in f\n', b"KeyError: 'x'\n", b"\x1b[31m", b"\x1b]8;;x\x07",
    b'{"timestamp": "2026-01-01T00:00:00Z", "textPayload": "', b'"insertId": "a"', b'"resource": {"type": "ml_job", "labels": {',
    b"[rank0]: ", b"2026-01-01 00:00:00,000 ", b"Killed\n", b"PK\x03\x04", b"\x1f\x8b\x08", b"\xff\xfe", b"\xed\xa0\x80", b"\xe2\x80\xae",
    b"step 1 loss 2\n", b"apiVersion: v1\nkind: Pod\n", b"password=", b"999999999999999999999999", b"1e999", b"NaN", b"\x00",
]  # fmt: skip
mixed = st.lists(st.one_of(st.sampled_from(WORDS), st.binary(max_size=8)), max_size=40).map(b"".join)


@pytest.mark.parametrize("file", INPUTS, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_a_kept_input_breaks_no_promise(file: Path) -> None:
    """Each was once new to the fuzzer, or once broke something."""
    attempt(file.parent.name, file.read_bytes())


def test_every_target_has_kept_inputs() -> None:
    """The replay is not empty."""
    assert {path.parent.name for path in INPUTS} == set(TARGETS)


@pytest.mark.parametrize("name", TARGETS)
def test_words_of_many_forms_in_any_order_break_no_promise(name: str) -> None:
    """Only the program's own errors leave it, and its laws hold."""

    @settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(mixed)
    def holds(data: bytes) -> None:
        attempt(name, data)

    holds()
