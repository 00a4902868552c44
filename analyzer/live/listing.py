"""Pages of a query's entries, within the quota, through outages, until the last page."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any

from google.api_core.exceptions import GoogleAPICallError
from google.auth.exceptions import GoogleAuthError
from google.cloud.logging_v2.services.logging_service_v2 import LoggingServiceV2Client
from google.cloud.logging_v2.types import ListLogEntriesRequest, ListLogEntriesResponse

from analyzer.errors import RemoteError
from analyzer.live.pace import Backoff, Clock, Limiter, Waiting
from analyzer.live.refusals import Refusal, credentials_error, logging_error, refusal_of

PAGE = 1000
"""Entries a page: the most that the API gives."""
EMPTY_PAGES = 200
"""A search that ran out of time on the server answers with an empty page and a token; so many in a row are followed, as
are pages that repeat the one before."""
TIMEOUT = 60.0
_PASSING = {
    "RESOURCE_EXHAUSTED": "the project's quota of read requests is used up",
    "UNAVAILABLE": "Cloud Logging is not available",
    "DEADLINE_EXCEEDED": "Cloud Logging took too long to answer",
    "INTERNAL": "Cloud Logging had an internal error",
    "ABORTED": "Cloud Logging gave the request up",
}
_QUOTA_TRIES, _OTHER_TRIES = 12, 8


class Broken(Exception):
    """The pages ended before the last one; `error` says why, and what was given before stays good."""

    def __init__(self, error: RemoteError) -> None:
        self.error = error
        super().__init__(str(error))


class Lister:
    """Asks for pages; counts what it asked for and what had to be asked for again."""

    def __init__(
        self, client: LoggingServiceV2Client, project: str, clock: Clock, waiting: Waiting, chance: random.Random
    ) -> None:
        self._client, self._project, self._clock, self._waiting = client, project, clock, waiting
        self._limiter = Limiter(clock, waiting)
        self._chance = chance
        self.requests = 0
        self.retries = 0

    def pages(self, query: str) -> Iterator[Sequence[Any]]:
        """The entries that a query finds, the newest first, page by page, as plain protocol buffers.

        Empty pages are passed over.

        Raises:
            RemoteError: if the first page is refused.
            Broken: if a later one is, or they come round in a circle.
        """
        token, empty, first = "", 0, True
        before: set[int] = set()
        ends: tuple[object, ...] = ()
        while True:
            request = ListLogEntriesRequest(
                resource_names=[f"projects/{self._project}"], filter=query, page_size=PAGE, page_token=token,
                order_by="timestamp desc",
            )  # fmt: skip
            try:
                page = self._page(request)
            except RemoteError as error:
                if first:
                    raise
                raise Broken(error) from error
            first = False
            entries, token = page.entries, page.next_page_token
            known, ends = ends, (len(entries), *(entry.insert_id for entry in (*entries[:1], *entries[-1:])))
            empty = 0 if entries and ends != known else empty + 1
            if entries:
                yield entries
            if not token:
                return
            if entries and hash(token) in before:
                raise Broken(RemoteError("the pages on the server come round in a circle"))
            before.add(hash(token))
            if empty >= EMPTY_PAGES:
                raise Broken(RemoteError("the search on the server did not come to an end"))

    def _page(self, request: ListLogEntriesRequest) -> Any:
        backoffs = {
            True: Backoff(5.0, 60.0, _QUOTA_TRIES, self._chance),  # the quota is counted by the minute
            False: Backoff(1.0, 60.0, _OTHER_TRIES, self._chance),
        }
        while True:
            self._limiter.pass_one()
            self.requests += 1
            try:
                pager = self._client.list_log_entries(request, retry=None, timeout=TIMEOUT)
                return ListLogEntriesResponse.pb(next(iter(pager.pages)))
            except GoogleAuthError as error:
                raise credentials_error(error) from error
            except GoogleAPICallError as error:
                refusal = refusal_of(error)
                wait = backoffs[refusal.status == "RESOURCE_EXHAUSTED"].next_wait() if passes(refusal) else None
                if wait is None:
                    raise logging_error(refusal, self._project) from error
            self.retries += 1
            self._waiting(wait, _PASSING[refusal.status])
            self._clock.sleep(wait)


def passes(refusal: Refusal) -> bool:
    """Whether a refusal may pass by itself, so that asking again makes sense."""
    return refusal.status in _PASSING and not refusal.expired and not refusal.lacks_quota_project
