"""Kubeflow's operator tells of its pods in events about the job."""

from __future__ import annotations

import pytest

from analyzer.formats.kubernetes_event import event_fields


@pytest.mark.parametrize(
    ("reason", "message", "replica"),
    [
        ("ExitedWithCode", "Pod: team.fit-worker-1 exited with code 137", "fit-worker-1"),
        ("PyTorchJobRestarting", "PyTorchJob fit is restarting because 1 Worker replica(s) failed.", None),
        ("SuccessfulCreatePod", "Created pod: fit-worker-1", None),
    ],
)
def test_an_exit_is_of_the_pod_that_it_names(reason: str, message: str, replica: str | None) -> None:
    """The event is about the job, the exit about one of its pods."""
    about = {"kind": "PyTorchJob", "name": "fit", "namespace": "team"}
    part = event_fields({"involvedObject": about, "reason": reason, "message": message}, {})
    assert part.replica == replica
    assert part.job is not None
    assert part.job.id == "fit"
