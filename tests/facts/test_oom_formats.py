"""The rulebook knows every wording in which memory is known to run out."""

from __future__ import annotations

from typing import Any

import pytest

from analyzer.facts.tables import table_document
from analyzer.model import Origin
from analyzer.rulebook.cache import load_rulebook
from analyzer.stitch import message_of

# Lines of a longer report that only carry its figures, or the second of a pair: they mean nothing alone.
FIGURES = {
    "kernel_memcg_usage", "kernel_memcg_swap_v2", "kernel_memcg_memsw_v1", "kernel_task_killed_v1",
    "kernel_task_dump_row", "kernel_already_exiting", "kernel_killed_old", "tpu_breakdown",
}  # fmt: skip
FORMATS = [row for row in table_document("oom_formats")["formats"] if row["id"] not in FIGURES]


@pytest.mark.parametrize("row", FORMATS, ids=lambda row: row["id"])
def test_a_wording_is_known(row: dict[str, Any]) -> None:
    """From PyTorch 1.0 to 2.9, TensorFlow, XLA, NCCL, kernels 3 to 6: none is told as a plain exception."""
    rulebook = load_rulebook()
    found = [one for origin in Origin for one in rulebook.find(message_of(row["example"], origin))]
    telling = {one.rule.id for one in found if one.rule.id != "user_exception.uncaught"}
    assert telling, row["example"]
