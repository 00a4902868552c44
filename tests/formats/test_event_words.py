"""What events say in words alone: whose exit the operator tells, and where the scheduler puts a pod."""

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


@pytest.mark.parametrize(
    ("reason", "message", "node"),
    [
        ("Scheduled", "Successfully assigned team/fit-0 to gke-a100-pool-5e10", "gke-a100-pool-5e10"),
        ("FailedScheduling", "0/4 nodes are available: 4 Insufficient nvidia.com/gpu.", None),
    ],
)
def test_a_pod_is_on_the_node_that_the_scheduler_names(reason: str, message: str, node: str | None) -> None:
    """The scheduler is no node's component, so its words are the only place where the node stands."""
    about = {"kind": "Pod", "name": "fit-0", "namespace": "team"}
    assert event_fields({"involvedObject": about, "reason": reason, "message": message}, {}).node == node
