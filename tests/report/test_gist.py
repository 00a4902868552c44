"""What a report shows of evidence in little room."""

from __future__ import annotations

from analyzer.model import Evidence
from analyzer.report.proof import gist_of

TRACEBACK = (
    'Traceback (most recent call last):\n  File "/usr/lib/runpy.py", line 9, in run\n    exec(code)\n'
    '  File "/app/fit.py", line 3, in main\n    step(batch)\n  File "/lib/torch/x.py", line 8, in y\n    raise e\nKeyError: 1'
)


def test_of_a_traceback_the_programs_own_call_is_shown() -> None:
    """Where it is not named, the last one that no installed package makes; of a package's alone the last one."""
    own = {"frame_file": "/app/fit.py", "frame_line": "3"}
    assert gist_of(Evidence(text=TRACEBACK), own) == ['  File "/app/fit.py", line 3, in main', "    step(batch)"]
    installed = TRACEBACK.replace("/lib/torch", "/opt/site-packages/torch")
    assert gist_of(Evidence(text=installed), {}) == ['  File "/app/fit.py", line 3, in main', "    step(batch)"]
    alone = installed.replace("/app/fit.py", "/opt/site-packages/fit.py").replace("/usr/lib", "/usr/lib/python3")
    assert gist_of(Evidence(text=alone), {}) == ['  File "/opt/site-packages/torch/x.py", line 8, in y', "    raise e"]


def test_rulers_and_boilerplate_are_left_out() -> None:
    """Of a launcher's report the root cause, if any of it is there."""
    head = "=====\ntrain.py FAILED\n-----\nRoot Cause (first observed failure):\n[0]:"
    assert gist_of(Evidence(text=f"{head}\n  rank : 2\n  exitcode : 1\n====="), {}) == [
        "Root Cause (first observed failure): [0]: rank : 2 exitcode : 1"
    ]
    assert gist_of(Evidence(text=head), {})[0].startswith("train.py FAILED")
    assert gist_of(Evidence(text="=====\n-----"), {}) == []
