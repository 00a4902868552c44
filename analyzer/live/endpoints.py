"""Where the services are: Google's own addresses, or those that the environment names.

DIAGNOSE_LOGGING_ENDPOINT  host:port of the Logging API (gRPC), for a private endpoint or a stand-in
DIAGNOSE_API_ENDPOINT      base address of the APIs that describe jobs (Vertex AI, AI Platform, Batch, GKE)

An address on this machine is spoken to in plain text and without credentials; any other only with both.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from urllib.parse import urlsplit

import msgspec

from analyzer.errors import UsageError

LOGGING_VARIABLE = "DIAGNOSE_LOGGING_ENDPOINT"
API_VARIABLE = "DIAGNOSE_API_ENDPOINT"
_LOOPBACK = frozenset(("localhost", "127.0.0.1", "::1"))


class Endpoints(msgspec.Struct, frozen=True):
    """The addresses in use; None stands for Google's own. `local`: all that is named is on this machine."""

    logging: str | None = None
    api: str | None = None
    local: bool = False

    def api_base(self, host: str) -> str:
        """The base address for a service whose own host is this one."""
        return self.api or f"https://{host}"

    @property
    def describes(self) -> bool:
        """Whether descriptions may be asked for: a stand-in for the log alone says nothing of Google's own jobs."""
        return not self.local or self.api is not None


def endpoints(environment: Mapping[str, str] | None = None) -> Endpoints:
    """The addresses that the environment names.

    Raises:
        UsageError: for an address that would be spoken to in plain text across a network.
    """
    values = os.environ if environment is None else environment
    logging, api = values.get(LOGGING_VARIABLE) or None, values.get(API_VARIABLE) or None
    parts = urlsplit(f"//{logging}" if logging and "//" not in logging else logging or "")
    logging_local = parts.hostname in _LOOPBACK
    if logging is not None:
        _check(logging, LOGGING_VARIABLE, parts.scheme in ("", "https") or logging_local)
    api_local = urlsplit(api or "").hostname in _LOOPBACK
    if api is not None:
        _check(api, API_VARIABLE, api.startswith("https://") or (api_local and api.startswith("http://")))
    if logging is not None and api is not None and logging_local != api_local:
        raise UsageError(
            "one of the two endpoints is on this machine and the other is not",
            where=f"{LOGGING_VARIABLE}, {API_VARIABLE}",
            advice="set both to this machine, or neither",
        )
    local = logging_local or api_local
    return Endpoints(parts.netloc or None, None if api is None else api.rstrip("/"), local)


def _check(address: str, variable: str, fine: bool) -> None:
    if not fine:
        raise UsageError(
            f"{variable}={address} is no address that credentials may be sent to",
            advice="use https:// (or an address on this machine)",
        )
