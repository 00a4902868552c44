"""Answers of REST APIs: a status and a JSON object, within bounds of time and size, from the address that was asked.

A service in trouble answers late, in part, with a page for people or with an address elsewhere. None of it is a
description, and none of it may hold up what is to be diagnosed.
"""

from __future__ import annotations

import json
import time
from typing import Any

import msgspec
from google.auth.transport.requests import AuthorizedSession
from requests import Response
from requests.exceptions import ConnectionError, RequestException, Timeout
from urllib3.exceptions import HTTPError, NameResolutionError, TimeoutError

TIMEOUT = 20.0
"""How long an answer may take as a whole (seconds)."""
LONGEST = 64 << 20
"""How much of an answer is read (bytes); a job's description has some kilobytes, a page of pods some megabytes."""
_PIECE = 1 << 16
_PASSING = (429, 500, 502, 503, 504)
_SHORTEST_WAIT = 1.0
_LONGEST_WAIT = 10.0


class Answer(msgspec.Struct, frozen=True):
    """An answer's status and its JSON (None where it is none). `wait`: seconds after which to ask again may help."""

    status: int
    body: Any
    wait: float | None = None


class NoAnswer(Exception):
    """There was no whole answer; the words say why. `absent`: there is no such host. `slow`: time ran out."""

    def __init__(self, why: str, *, absent: bool = False, slow: bool = False) -> None:
        self.absent, self.slow = absent, slow
        super().__init__(why)


def ask(session: AuthorizedSession, url: str, *, verify: bool | str = True, connect: float = TIMEOUT) -> Answer:
    """What a GET of an address answers; redirections are not followed, since credentials are for this address only.

    Raises:
        NoAnswer: if there was none, or none that is whole.
        GoogleAuthError: if the credentials failed.
    """
    end = time.monotonic() + TIMEOUT
    try:
        with session.get(
            url, timeout=(connect, TIMEOUT), verify=verify, allow_redirects=False, stream=True
        ) as answer:
            content = _content(answer, end)
    except (Timeout, TimeoutError) as error:
        raise NoAnswer(type(error).__name__, slow=True) from error
    except ConnectionError as error:
        reason = getattr(error.args[0] if error.args else None, "reason", None)
        raise NoAnswer(type(error).__name__, absent=isinstance(reason, NameResolutionError)) from error
    except (RequestException, HTTPError, OSError) as error:
        raise NoAnswer(type(error).__name__) from error
    return Answer(answer.status_code, _value(content), _wait(answer))


def _content(answer: Response, end: float) -> bytes:
    """The body, piece by piece as it comes: a body that trickles would else never run out of time."""
    pieces, size = [], 0
    while piece := answer.raw.read1(_PIECE, decode_content=True):
        pieces.append(piece)
        size += len(piece)
        if time.monotonic() > end:
            raise NoAnswer("it takes too long", slow=True)
        if size > LONGEST:
            raise NoAnswer("it is too long")
    return b"".join(pieces)


def _value(content: bytes) -> Any:
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return None


def _wait(answer: Response) -> float | None:
    """How long to wait before asking again; None where that is no use, or the service asks for too much patience."""
    if answer.status_code not in _PASSING:
        return None
    asked = answer.headers.get("Retry-After", "")
    wait = float(asked) if asked.isascii() and asked.isdecimal() else _SHORTEST_WAIT
    return wait if wait <= _LONGEST_WAIT else None
