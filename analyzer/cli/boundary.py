"""The process's border: errors become one sentence and an exit status; output is written whole or not at all."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from analyzer.errors import DiagnoseError, RenderError, way_to_write

INTERNAL_ERROR = 5
INTERRUPTED = 130
_KEPT = "what was written is whole, and a scan goes on where it stopped"


def run(app: Callable[..., Any]) -> int:
    """Runs the command line. A traceback is shown only with --debug."""
    debug = "--debug" in sys.argv[1:]
    try:
        return _exit_status(lambda: app(prog_name="diagnose"))
    except DiagnoseError as error:
        if debug:
            raise
        _complain(str(error))
        return error.exit_status
    except KeyboardInterrupt:
        _complain(f"interrupted; {_KEPT}")
        return INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:  # the border of the process: what reaches it is a fault of ours
        if debug:
            raise
        _complain(f"internal error ({type(error).__name__}: {error}); run again with --debug and report the traceback")
        return INTERNAL_ERROR


def heed_signals() -> None:
    """Makes SIGTERM and SIGHUP end the program as Ctrl-C does: workers are stopped, what was begun is cleared away."""
    if threading.current_thread() is not threading.main_thread():
        return
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:  # nohup ignores SIGHUP
            signal.signal(number, _stop)


def _stop(number: int, frame: object) -> None:
    signal.signal(number, signal.SIG_DFL)  # a second one ends it at once
    _complain(f"stopped by {signal.Signals(number).name}; {_KEPT}")
    raise SystemExit(128 + number)


def _exit_status(call: Callable[[], Any]) -> int:
    try:
        call()
    except SystemExit as stop:
        if stop.code == INTERRUPTED:  # Typer has caught the KeyboardInterrupt
            raise KeyboardInterrupt from stop
        return stop.code if isinstance(stop.code, int) else 0 if stop.code is None else 1
    return 0


def _complain(sentence: str) -> None:
    from analyzer.redact import redact

    sentence = redact(sentence)  # an address or a line that it names may hold a password
    printable = "".join(char if char.isprintable() else " " for char in sentence)
    print(f"diagnose: {printable}", file=sys.stderr)


def write_output(text: str, output: Path | None) -> None:
    """Writes to a file (whole or not at all, readable by its owner only) or to standard output.

    Raises:
        RenderError: if the file cannot be written.
    """
    if output is None:
        sys.stdout.write(text if text.endswith("\n") else text + "\n")
        sys.stdout.flush()
    else:
        write_file(text.encode("utf-8"), output)


def write_file(data: bytes, output: Path) -> None:
    """Writes a file whole or not at all, readable by its owner only.

    Raises:
        RenderError: if it cannot be written.
    """
    import tempfile

    try:
        handle, temporary = tempfile.mkstemp(dir=output.parent or Path("."), prefix=".diagnose-")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            os.replace(temporary, output)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise RenderError(
            f"cannot be written ({error.strerror})", where=str(output), advice=way_to_write(error, "--output")
        ) from error
