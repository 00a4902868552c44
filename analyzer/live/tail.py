"""Entries as they come: a tail where the service grants one, else asking every few seconds."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from queue import Empty, Full, Queue
from typing import Any

from google.api_core.exceptions import GoogleAPICallError
from google.auth.exceptions import GoogleAuthError
from google.cloud.logging_v2.services.logging_service_v2 import LoggingServiceV2Client
from google.cloud.logging_v2.types import TailLogEntriesRequest, TailLogEntriesResponse

from analyzer.live.refusals import Refusal, refusal_of

_WAITING = 16
"""Answers that may wait to be taken; then the service has to wait, so that memory stays bounded."""
_PUT = 0.5


class TailEnded(Exception):
    """The service closed or refused the tail; `refusal` says why (None: it just ended)."""

    def __init__(self, refusal: Refusal | None) -> None:
        self.refusal = refusal
        super().__init__(refusal.short if refusal else "the tail ended")


class Tail:
    """A running tail of one query. `suppressed` counts what the service left out since it came too fast."""

    def __init__(self, client: LoggingServiceV2Client, project: str, query: str) -> None:
        self._request = TailLogEntriesRequest(resource_names=[f"projects/{project}"], filter=query)
        self._answers: Queue[Any] = Queue(_WAITING)
        self._closed = threading.Event()
        self.suppressed = 0
        self._call: Any = client.tail_log_entries(self._requests(), retry=None, timeout=None)
        self._thread = threading.Thread(target=self._listen, name="tail", daemon=True)
        self._thread.start()

    def next(self, seconds: float) -> Sequence[Any]:
        """The entries of the next answer; none if none comes in so many seconds.

        Raises:
            TailEnded: if the service closed it.
        """
        try:
            answer = self._answers.get(timeout=seconds)
        except Empty:
            return ()
        if isinstance(answer, TailEnded):
            raise answer
        self.suppressed += sum(info.suppressed_count for info in answer.suppression_info)
        entries: Sequence[Any] = answer.entries
        return entries

    def close(self) -> None:
        """Ends the tail."""
        self._closed.set()
        self._call.cancel()
        self._thread.join()

    def _requests(self) -> Iterator[TailLogEntriesRequest]:
        yield self._request
        self._closed.wait()  # the service ends a tail whose caller has nothing more to say

    def _listen(self) -> None:
        ended = TailEnded(None)
        try:
            for answer in self._call:
                self._put(TailLogEntriesResponse.pb(answer))
        except GoogleAPICallError as error:
            ended = TailEnded(refusal_of(error))
        except GoogleAuthError as error:
            ended = TailEnded(Refusal("UNAUTHENTICATED", str(error)))
        self._put(ended)

    def _put(self, answer: object) -> None:
        while not self._closed.is_set():
            try:
                self._answers.put(answer, timeout=_PUT)
                return
            except Full:
                continue
