"""What stands between the program and a service, on this machine: answers as bytes, and connections that can be cut."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable

PATIENCE = 10.0


class RawServer:
    """Answers each connection with what `answer` does on it, given the number of the request (from 1)."""

    def __init__(self, answer: Callable[[socket.socket, int], object]) -> None:
        self.asked = 0
        self._answer = answer
        self._over = threading.Event()
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        self.address = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self) -> None:
        self._over.set()
        self._socket.close()

    def wait(self, seconds: float) -> None:
        """Lets time go by, but not after the end."""
        self._over.wait(seconds)

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=self._one, args=(self._socket.accept()[0],), daemon=True).start()

    def _one(self, connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):
            connection.settimeout(PATIENCE)
            head = b""
            while b"\r\n\r\n" not in head:
                head += connection.recv(1 << 16) or b"\r\n\r\n"
            self.asked += 1
            self._answer(connection, self.asked)


def http(status: str, body: bytes, *headers: str, length: int | None = None) -> bytes:
    """An answer, whose length may be another than it says."""
    size = len(body) if length is None else length
    lines = [f"HTTP/1.1 {status}", "Content-Type: application/json", f"Content-Length: {size}", "Connection: close", *headers]
    return "\r\n".join([*lines, "", ""]).encode() + body


class Wire:
    """Passes bytes on between callers and a server, both ways, until it is cut; `limits` cut connections by themselves.

    The next connection is cut after so many bytes of answers as the first of `limits` says.
    """

    def __init__(self, to: str) -> None:
        host, _, port = to.rpartition(":")
        self._to = (host, int(port))
        self.limits: list[int] = []
        self._ends: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._socket.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()

    def cut(self) -> None:
        """Ends all connections in the middle of whatever passes."""
        for end in self._ends:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._socket.close()
        self.cut()
        for thread in self._threads:
            thread.join(PATIENCE)
        for end in self._ends:
            end.close()

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near = self._socket.accept()[0]
                far = socket.create_connection(self._to, timeout=PATIENCE)
                limit = self.limits.pop(0) if self.limits else None
                ways = ((near, far, None), (far, near, limit))
                threads = [threading.Thread(target=self._pass_on, args=way, daemon=True) for way in ways]
                self._ends += [near, far]
                self._threads += threads
                for thread in threads:
                    thread.start()

    def _pass_on(self, source: socket.socket, target: socket.socket, limit: int | None) -> None:
        with contextlib.suppress(OSError):
            source.settimeout(None)
            while (limit is None or limit > 0) and (data := source.recv(1 << 16)):
                target.sendall(data[:limit])
                limit = None if limit is None else limit - len(data)
        for end in (source, target):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
