"""The frame of a traceback that is the user's own to mend."""

from __future__ import annotations

from analyzer.model import ExceptionLink, Frame

PACKAGES = "/root/.local/lib/python3.10/site-packages"


def _deepest(*frames: Frame) -> Frame | None:
    return ExceptionLink("KeyError", "'x'", frames).user_frame


def test_libraries_below_the_users_code_do_not_count() -> None:
    """The deepest frame outside installed packages and the interpreter."""
    own = Frame("/app/train.py", 12, "main")
    assert _deepest(own, Frame("/opt/conda/lib/python3.10/site-packages/torch/nn/module.py", 5, "forward")) == own


def test_a_package_that_the_service_installed_is_the_users() -> None:
    """The runner installs the user's package beside libraries; what was run as the program tells which it is."""
    program = Frame(f"{PACKAGES}/lantern/train.py", 214, "<module>")
    own = Frame(f"{PACKAGES}/lantern/data/shards.py", 58, "decode")
    runner = Frame("/opt/python/3.10/lib/python3.10/runpy.py", 196, "_run_module_as_main")
    assert _deepest(runner, program, own, Frame(f"{PACKAGES}/torch/nn/module.py", 5, "forward")) == own


def test_a_library_that_is_run_as_the_program_is_not_the_users() -> None:
    """`python -m torch.distributed.run` out of the image's own packages has no frame of the user."""
    program = Frame("/opt/conda/lib/python3.10/site-packages/torch/distributed/run.py", 9, "<module>")
    assert _deepest(program) is None
