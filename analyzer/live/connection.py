"""The way to the services: application default credentials, the Logging client, a session for descriptions."""

from __future__ import annotations

from typing import Any

import google.auth
import grpc
import msgspec
from google.api_core.gapic_v1.client_info import ClientInfo
from google.auth.credentials import AnonymousCredentials
from google.auth.exceptions import GoogleAuthError
from google.auth.transport.requests import AuthorizedSession
from google.cloud.logging_v2.services.logging_service_v2 import LoggingServiceV2Client
from google.cloud.logging_v2.services.logging_service_v2.transports import LoggingServiceV2GrpcTransport
from requests.adapters import HTTPAdapter

from analyzer import __version__
from analyzer.live.endpoints import Endpoints
from analyzer.live.refusals import credentials_error

_SCOPES = ("https://www.googleapis.com/auth/cloud-platform",)
AT_ONCE = 16
"""Descriptions that may be asked for at the same time."""
_HOSTS = 64
_NO_LIMIT = (("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1))
"""A page of 1,000 entries may be larger than the 4 MiB that gRPC takes by default."""


class Connection(msgspec.Struct, frozen=True):
    """The Logging client, and a session with the same credentials (None where nothing may be asked for by it)."""

    logging: LoggingServiceV2Client
    session: AuthorizedSession | None
    endpoints: Endpoints

    def close(self) -> None:
        """Lets go of both."""
        self.logging.transport.close()
        if self.session is not None:
            self.session.close()


def connect(endpoints: Endpoints) -> Connection:
    """Opens the way with the caller's application default credentials; nothing is sent yet.

    Raises:
        RemoteError: if there are no credentials.
    """
    credentials = _credentials(endpoints)
    session = _session(credentials, endpoints) if endpoints.describes else None
    return Connection(_client(credentials, endpoints), session, endpoints)


def _credentials(endpoints: Endpoints) -> Any:
    if endpoints.local:
        return AnonymousCredentials()
    try:
        credentials, _ = google.auth.default(scopes=_SCOPES)
    except GoogleAuthError as error:
        raise credentials_error(error) from error
    return credentials


def _session(credentials: Any, endpoints: Endpoints) -> AuthorizedSession:
    session = AuthorizedSession(credentials)
    for scheme in ("https://", "http://"):
        session.mount(scheme, HTTPAdapter(pool_connections=_HOSTS, pool_maxsize=AT_ONCE))
    if endpoints.local:
        session.trust_env = False  # a proxy knows no address of this machine
    return session


def _client(credentials: Any, endpoints: Endpoints) -> LoggingServiceV2Client:
    info = ClientInfo(user_agent=f"training-job-analyzer/{__version__}")
    if endpoints.local and endpoints.logging is not None:
        channel = grpc.insecure_channel(endpoints.logging, options=[*_NO_LIMIT, ("grpc.enable_http_proxy", 0)])
        transport = LoggingServiceV2GrpcTransport(channel=channel, client_info=info)
    else:
        host = endpoints.logging or "logging.googleapis.com"
        transport = LoggingServiceV2GrpcTransport(host=host, credentials=credentials, client_info=info)
    # A tail would otherwise block until its first entry comes, which may be never.
    setattr(transport.tail_log_entries, "_prefetch_first_result_", False)  # noqa: B010  no declared attribute
    return LoggingServiceV2Client(transport=transport)
