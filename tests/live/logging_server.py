"""The Logging service on this machine, speaking the real protocol with the client package's own messages."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc
from google.cloud.audit import audit_log_pb2  # noqa: F401  teaches the JSON converter what audit entries hold
from google.cloud.logging_v2.types import (
    ListLogEntriesRequest,
    ListLogEntriesResponse,
    LogEntry,
    TailLogEntriesRequest,
    TailLogEntriesResponse,
)
from google.protobuf import json_format
from google.rpc import error_details_pb2, status_pb2
from lql import BadFilter, parse

Message = type[Any]
_LIST_REQUEST, _LIST_RESPONSE = ListLogEntriesRequest.pb(), ListLogEntriesResponse.pb()
_TAIL_REQUEST, _TAIL_RESPONSE = TailLogEntriesRequest.pb(), TailLogEntriesResponse.pb()
_ENTRY = LogEntry.pb()


class Fault:
    """A refusal for one request: a status, its message, and the reason that its details give."""

    def __init__(self, code: grpc.StatusCode, message: str, reason: str = "") -> None:
        self.code, self.message, self.reason = code, message, reason

    def abort(self, context: grpc.ServicerContext) -> None:
        if self.reason:
            details = status_pb2.Status(code=self.code.value[0], message=self.message)
            details.details.add().Pack(error_details_pb2.ErrorInfo(reason=self.reason, domain="googleapis.com"))
            context.set_trailing_metadata((("grpc-status-details-bin", details.SerializeToString()),))
        context.abort(self.code, self.message)


class LoggingServer:
    """Holds entries, answers queries for them, and refuses what it is told to refuse.

    `faults` are the answers to the requests to come, first to first; None lets one through. `empty` are numbers of
    pages that come out empty with a token, `untailed` the ids of entries that no tail gives. `queries` and `tails` keep what was asked.
    """

    def __init__(self) -> None:
        self.entries: list[tuple[dict[str, Any], Any]] = []
        self.faults: list[Fault | None] = []
        self.tail_faults: list[Fault | None] = []
        self.empty: set[int] = set()
        self.queries: list[Any] = []
        self.tails: list[Any] = []
        self.untailed: set[str] = set()
        self._last: tuple[Any, list[Any]] = (None, [])  # pages of one query are cut out of one search
        self._changed = threading.Condition()
        self._closed = False
        self._server = grpc.server(ThreadPoolExecutor(8), options=[("grpc.so_reuseport", 0)])
        handlers = {
            "ListLogEntries": grpc.unary_unary_rpc_method_handler(
                self._list, _LIST_REQUEST.FromString, _LIST_RESPONSE.SerializeToString
            ),
            "TailLogEntries": grpc.stream_stream_rpc_method_handler(
                self._tail, _TAIL_REQUEST.FromString, _TAIL_RESPONSE.SerializeToString
            ),
        }
        service = grpc.method_handlers_generic_handler("google.logging.v2.LoggingServiceV2", handlers)
        self._server.add_generic_rpc_handlers((service,))
        self.address = f"127.0.0.1:{self._server.add_insecure_port('127.0.0.1:0')}"
        self._server.start()

    def add(self, *entries: dict[str, Any]) -> None:
        """Logs entries: those who tail get them at once."""
        made = [(entry, json_format.ParseDict(entry, _ENTRY())) for entry in entries]
        with self._changed:
            self.entries += made
            self._changed.notify_all()

    def close(self) -> None:
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self._server.stop(None).wait()

    def _list(self, request: Any, context: grpc.ServicerContext) -> Any:
        self.queries.append(request)
        fault = self.faults.pop(0) if self.faults else None
        if fault is not None:
            fault.abort(context)
        if request.page_size > 1000:
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, "page_size must not be greater than 1000")
        asked = [list(request.resource_names), request.filter, request.order_by]
        start = 0
        if request.page_token:
            before, start = json.loads(base64.b64decode(request.page_token))
            if before != asked:
                context.abort(grpc.StatusCode.INVALID_ARGUMENT, "page_token doesn't match arguments from the request")
        found = self._found(request, context)
        size = 0 if len(self.queries) in self.empty else request.page_size or 50
        page = found[start : start + size]
        token = base64.b64encode(json.dumps([asked, start + size]).encode()).decode()
        return _LIST_RESPONSE(entries=page, next_page_token=token if start + size < len(found) else "")

    def _found(self, request: Any, context: grpc.ServicerContext) -> list[Any]:
        asked = (request.filter, request.order_by, len(self.entries))
        if self._last[0] != asked:
            self._last = (asked, self._search(request, context))
        return self._last[1]

    def _search(self, request: Any, context: grpc.ServicerContext) -> list[Any]:
        try:
            test = parse(request.filter)
            found = [entry for raw, entry in self.entries if test(raw)]
        except BadFilter as error:
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, f"Unparseable filter: {error}")
        found.sort(key=lambda e: (e.timestamp.seconds, e.timestamp.nanos, e.insert_id))
        return found[::-1] if request.order_by == "timestamp desc" else found

    def _tail(self, requests: Iterator[Any], context: grpc.ServicerContext) -> Iterator[Any]:
        request = next(requests)
        self.tails.append(request)
        fault = self.tail_faults.pop(0) if self.tail_faults else None
        if fault is not None:
            fault.abort(context)
        test = parse(request.filter)
        at = len(self.entries)
        context.add_callback(self._wake)
        while context.is_active():
            with self._changed:
                self._changed.wait_for(lambda at=at: len(self.entries) > at or self._closed or not context.is_active())
                fresh, at = self.entries[at:], len(self.entries)
            if self._closed:
                return
            found = [entry for raw, entry in fresh if test(raw) and raw["insertId"] not in self.untailed]
            response = _TAIL_RESPONSE(entries=found)
            if len(found) < len(fresh):
                response.suppression_info.add(reason=1, suppressed_count=len(fresh) - len(found))
            if found or response.suppression_info:
                yield response

    def _wake(self) -> None:
        with self._changed:
            self._changed.notify_all()
