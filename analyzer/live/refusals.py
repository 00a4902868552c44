"""What a Google service's refusal means for the caller, and what to do about it, in one sentence."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec
from google.api_core.exceptions import GoogleAPICallError
from google.auth.exceptions import DefaultCredentialsError, GoogleAuthError

from analyzer.errors import RemoteError

_QUOTA_PROJECT = re.compile(
    r"requires a quota project|project_number:(?:764086051850|32555940559)\b|USER_PROJECT_DENIED"
)
"""Also the project numbers of gcloud's own login, which a call without a quota project is charged to."""
_DISABLED = re.compile(r"has not been used in project|\bSERVICE_DISABLED\b|API (?:is|has been) disabled")
_NO_PROJECT = re.compile(
    r"CONSUMER_INVALID|Project '?[^' ]+'? (?:was )?not found|not found or deleted|Invalid project|do(?:es)? not exist\b"
)
_EXPIRED = re.compile(r"Getting metadata from plugin failed|invalid_grant|Reauthentication is needed")
_LONGEST = 300


class Refusal(msgspec.Struct, frozen=True):
    """A refusal as a service words it: its status (`PERMISSION_DENIED`), message, and the reason it gives, if any."""

    status: str
    message: str
    reason: str = ""

    @property
    def short(self) -> str:
        """The first line of the message, and not too much of it."""
        line = self.message.strip().split("\n", 1)[0]
        return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"

    def says(self, pattern: re.Pattern[str]) -> bool:
        """Whether the message or the reason matches."""
        return bool(pattern.search(self.message) or pattern.search(self.reason))

    @property
    def expired(self) -> bool:
        """Whether it is the credentials' own end, which gRPC passes on as an outage."""
        return self.says(_EXPIRED)

    @property
    def lacks_quota_project(self) -> bool:
        """Whether the call was charged to a project that it may not be charged to."""
        return self.says(_QUOTA_PROJECT)

    @property
    def disabled(self) -> bool:
        """Whether the API is not enabled in the project."""
        return self.says(_DISABLED)


def refusal_of(error: GoogleAPICallError) -> Refusal:
    """The refusal that an exception of the client carries."""
    code = error.grpc_status_code
    status = code.name if code is not None else type(error).__name__
    return Refusal(status, str(error.message or error), str(error.reason or ""))


def refusal_in(body: Any, http_status: int) -> Refusal:
    """The refusal in the JSON body of a REST answer (or the bare status, where the body is none)."""
    error = body.get("error") if isinstance(body, Mapping) else None
    error = error if isinstance(error, Mapping) else {}
    details = [detail for detail in error.get("details") or () if isinstance(detail, Mapping)]
    reason = next((str(detail["reason"]) for detail in details if detail.get("reason")), "")
    return Refusal(str(error.get("status") or http_status), str(error.get("message") or f"HTTP {http_status}"), reason)


def logging_error(refusal: Refusal, project: str) -> RemoteError:
    """The error for a refusal of Cloud Logging, with advice."""
    if refusal.expired:
        return expired_credentials(refusal.short)
    if refusal.lacks_quota_project:
        return no_quota_project(project, refusal.short)
    if refusal.disabled:
        return RemoteError(
            f"the Cloud Logging API is not enabled in the project {project!r}",
            advice=f"run `gcloud services enable logging.googleapis.com --project={project}` and try again in a minute",
        )
    if refusal.says(_NO_PROJECT) or refusal.status == "NOT_FOUND":
        return RemoteError(
            f"there is no project {project!r} ({refusal.short})",
            advice="check --project: `gcloud projects list` shows the ids of those that you can see",
        )
    return _worded(refusal, project)


def _worded(refusal: Refusal, project: str) -> RemoteError:
    said = f"{refusal.status}: {refusal.short}"
    if refusal.status == "UNAUTHENTICATED":
        return expired_credentials(said)
    if refusal.status == "PERMISSION_DENIED":
        return RemoteError(
            f"the log of the project {project!r} may not be read with these credentials ({said})",
            advice="ask for roles/logging.viewer: `gcloud projects add-iam-policy-binding "
            f"{project} --member=user:YOU --role=roles/logging.viewer`; or check --project, it may not exist",
        )
    if refusal.status == "RESOURCE_EXHAUSTED":
        return RemoteError(
            f"the quota of 60 read requests a minute of the project {project!r} stayed used up ({said})",
            advice="try again later, or copy the log with `gcloud logging copy` and read the copy with --logs gs://…",
        )
    if refusal.status == "INVALID_ARGUMENT":
        return RemoteError(f"Cloud Logging refused the query ({said})", advice="check --project and the job's id")
    return RemoteError(f"Cloud Logging failed ({said})", advice="try again in a few minutes")


def credentials_error(error: GoogleAuthError) -> RemoteError:
    """The error for credentials that are missing or refused."""
    if isinstance(error, DefaultCredentialsError):
        return RemoteError(
            "no Google credentials were found",
            advice="run `gcloud auth application-default login`, or name a key file in GOOGLE_APPLICATION_CREDENTIALS",
        )
    return expired_credentials(str(error).split("\n", 1)[0][:_LONGEST])


def expired_credentials(said: str) -> RemoteError:
    """The error for credentials that were valid once."""
    return RemoteError(
        f"the Google credentials were refused ({said})", advice="run `gcloud auth application-default login` again"
    )


def no_quota_project(project: str, said: str) -> RemoteError:
    """The error for a login whose calls are charged to no project of the caller's."""
    return RemoteError(
        f"these credentials name no project that the calls are charged to ({said})",
        advice=f"run `gcloud auth application-default set-quota-project {project}`",
    )
