"""The APIs that describe jobs, on this machine: JSON objects by their paths."""

from __future__ import annotations

import json
import ssl
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class ApiServer:
    """Answers GET with what `jobs` has for the path: an object, or a status with the error that goes with it."""

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self.jobs: dict[str, dict[str, Any] | int] = {}
        self.refuse_all: tuple[int, str, str] | None = None
        self.asked: list[str] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_GET(self) -> None:
                outer.asked.append(self.path)
                status, body = outer._answer(self.path.partition("?")[0])
                content = json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        if tls is not None:
            self._server.socket = tls.wrap_socket(self._server.socket, server_side=True)
        self.port = self._server.server_port
        self.address = f"http://127.0.0.1:{self.port}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _answer(self, path: str) -> tuple[int, Any]:
        if self.refuse_all is not None:
            status, name, message = self.refuse_all
            return status, {"error": {"code": status, "status": name, "message": message}}
        job = self.jobs.get(path, 404)
        if isinstance(job, dict):
            return 200, job
        name = {403: "PERMISSION_DENIED", 404: "NOT_FOUND"}.get(job, "INTERNAL")
        message = {403: "Permission denied on resource (or it may not exist).", 404: "The job does not exist."}
        return job, {"error": {"code": job, "status": name, "message": message.get(job, "internal")}}
