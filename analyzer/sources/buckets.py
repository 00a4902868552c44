"""Objects of Cloud Storage as sources: `gs://bucket/prefix`, in the layout of a log sink or any other.

A sink writes `LOG_ID/YYYY/MM/DD/HH:MM:SS_HH:MM:SS_S0.json`, and late entries beside it as `…_A0.json`; in the order of
names that is the order of time. Needs the extra `gcs`. STORAGE_EMULATOR_HOST is honoured.
"""

from __future__ import annotations

import base64
import fnmatch
import io
import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, BinaryIO, cast

from analyzer.errors import DiagnoseError, NothingToDiagnose, RemoteError, UsageError
from analyzer.model import Note
from analyzer.sources.archives import tar_members, zip_members
from analyzer.sources.base import Source
from analyzer.sources.compression import decompressed
from analyzer.sources.magic import HEAD, ZIP_MAGIC, is_tar

CHUNK = 8 << 20
"""How much of an object is fetched by one request (bytes)."""
PATIENCE = 60.0
"""How long a request is made again that fails in a way which passes (seconds)."""
PAGE = 1000
"""Objects that one request lists."""
_READ = 1 << 20
_ADDRESS = re.compile(r"gs://(?P<bucket>[a-z0-9][a-z0-9._-]{1,221})(?:/(?P<name>.*))?", re.DOTALL)
_WILD = re.compile(r"[*?\[]")


def bucket_sources(address: str, notes: list[Note]) -> Iterator[Source]:
    """The objects under an address, in the order of their names.

    The address may be that of one object, of a folder (with or without a slash at its end), the beginning of names,
    or a pattern in which `*` stands for anything. Each is to be read before the next one is asked for.

    Raises:
        UsageError: for an address that names no bucket, or where the extra is not installed.
        RemoteError: if the bucket may not be listed.
        NothingToDiagnose: if there is no such object.
    """
    found = _ADDRESS.fullmatch(address)
    if found is None:
        raise UsageError("this names no bucket", where=address, advice="write gs://BUCKET/PREFIX")
    count = 0
    with closing(_client(address)) as client:
        for blob in _objects(client, found["bucket"], found["name"] or "", address):
            count += 1
            yield from _object_sources(blob, f"gs://{found['bucket']}/{blob.name}", notes)
    if not count:
        raise NothingToDiagnose(
            "there is no object of that name", where=address, advice="check it with `gcloud storage ls --recursive`"
        )


def bucket_objects(address: str) -> Iterator[tuple[str, int, str]]:
    """Address, size and generation of the objects that `bucket_sources` would read; nothing of them is read.

    Raises the same errors as `bucket_sources`, but for an address at which there is nothing.
    """
    found = _ADDRESS.fullmatch(address)
    if found is None:
        raise UsageError("this names no bucket", where=address, advice="write gs://BUCKET/PREFIX")
    with closing(_client(address)) as client:
        for blob in _objects(client, found["bucket"], found["name"] or "", address):
            yield f"gs://{found['bucket']}/{blob.name}", int(blob.size or 0), str(blob.generation)


def _client(address: str) -> Any:
    try:
        from google.auth.credentials import AnonymousCredentials
        from google.auth.exceptions import GoogleAuthError
        from google.cloud.storage import Client
    except ImportError as error:
        raise UsageError(
            "reading a bucket needs a package that is not installed",
            where=address,
            advice="install the extra: pip install 'training-job-analyzer[gcs]'",
        ) from error
    if os.environ.get("STORAGE_EMULATOR_HOST"):
        return Client(project="local", credentials=AnonymousCredentials())
    try:
        return Client()
    except GoogleAuthError as error:
        raise _credentials_error(error) from error
    except OSError as error:  # no project is set; one is needed to make buckets, not to read them
        if "project" not in str(error).lower():
            raise
        return Client(project="none")


def _objects(client: Any, bucket: str, name: str, address: str) -> Iterator[Any]:
    """Objects with content: the one of that name, else those of the folder, else those whose names begin so."""
    wild = _WILD.search(name)
    if wild is not None:
        pattern = re.compile(fnmatch.translate(name))
        blobs = _listed(client, bucket, name[: wild.start()], address)
        yield from (blob for blob in blobs if pattern.fullmatch(blob.name))
        return
    for prefix in dict.fromkeys((name and name.rstrip("/") + "/", name)):
        some = False
        for blob in _listed(client, bucket, prefix, address):
            if prefix == name or prefix.startswith(name):
                some = True
                yield blob
        if some:
            return


def _listed(client: Any, bucket: str, prefix: str, address: str) -> Iterator[Any]:
    """Page by page; folders' own placeholders are left out."""
    from google.api_core.exceptions import GoogleAPICallError, GoogleAPIError
    from google.auth.exceptions import GoogleAuthError
    from requests.exceptions import RequestException

    known: set[int] = set()
    try:
        found = client.list_blobs(bucket, prefix=prefix or None, page_size=PAGE, retry=_patience())
        for page in found.pages:
            yield from (blob for blob in page if not blob.name.endswith("/"))
            token = hash(found.next_page_token)
            if token in known:
                raise _failed("its listing comes round in a circle", address)
            known.add(token)
    except GoogleAuthError as error:
        raise _credentials_error(error) from error
    except GoogleAPICallError as error:
        raise _refused(error, bucket, address) from error
    except (GoogleAPIError, RequestException) as error:
        raise _failed(_short(error), address) from error


def _patience() -> Any:
    """How requests are made again that fail in a way which passes."""
    from google.cloud.storage.retry import DEFAULT_RETRY

    return DEFAULT_RETRY.with_timeout(PATIENCE)


def _failed(why: str, address: str) -> RemoteError:
    return RemoteError(f"Cloud Storage failed ({why})", where=address, advice="try again in a few minutes")


def _short(error: Exception) -> str:
    """What a failure says in its first line, without the client's own words on it."""
    return str(error).split("\n", 1)[0].partition(": ('Request failed")[0]


def _object_sources(blob: Any, name: str, notes: list[Note]) -> Iterator[Source]:
    try:
        content = _opened(blob)
        if content.peek(HEAD)[:HEAD].startswith(ZIP_MAGIC):
            yield from _zip_sources(content, name, notes)
            return
        inner = decompressed(cast(BinaryIO, content), name, notes)
        head = cast(io.BufferedReader, inner).peek(HEAD)[:HEAD]
    except OSError as error:
        notes.append(Note("unreadable", f"this object cannot be read ({error})", name))
        return
    if is_tar(head):
        with inner:
            yield from tar_members(inner, name, notes)
        return
    begun = [inner]  # what was fetched to look at is not fetched again
    yield Source(name, lambda: begun.pop() if begun else decompressed(cast(BinaryIO, _opened(blob)), name, notes))
    while begun:
        begun.pop().close()


def _zip_sources(content: BinaryIO | io.BufferedReader, name: str, notes: list[Note]) -> Iterator[Source]:
    """A zip archive keeps its list of members at its end, so it is fetched whole first."""
    with tempfile.NamedTemporaryFile(suffix=".zip") as file:
        with content:
            while data := content.read(_READ):
                file.write(data)
        file.flush()
        yield from zip_members(Path(file.name), name, notes)


def _opened(blob: Any) -> io.BufferedReader:
    """An object's bytes as they are stored. Buffered, since the client's reader is slow line by line."""
    return io.BufferedReader(_Object(blob), _READ)


class _Object(io.RawIOBase):
    """An object as a raw stream, whose failures are those of a file: also that less came than it has, or other bytes.

    The client checks neither where it fetches piece by piece.
    """

    def __init__(self, blob: Any) -> None:
        self._reader = blob.open("rb", chunk_size=CHUNK, raw_download=True, retry=_patience())
        self._left = blob.size
        self._check = _Check(blob.crc32c)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if self._left == 0:  # the client would ask for what lies behind the end
            if not self._check.holds:
                raise OSError("other bytes came than are stored there")
            return 0
        from google.api_core.exceptions import GoogleAPIError
        from google.auth.exceptions import GoogleAuthError
        from requests.exceptions import RequestException

        try:
            data = self._reader.read(len(buffer))
        except (GoogleAPIError, GoogleAuthError, RequestException) as error:
            raise OSError(_short(error)) from error
        data = data[: self._left]
        if not data and self._left:
            raise OSError(f"its last {self._left} bytes did not come")
        buffer[: len(data)] = data
        self._check.add(data)
        self._left = None if self._left is None else self._left - len(data)
        return len(data)

    def close(self) -> None:
        self._reader.close()
        super().close()


class _Check:
    """Whether the bytes that came are those that are stored, by their CRC-32C (base64; None where there is none)."""

    def __init__(self, stored: str | None) -> None:
        import google_crc32c

        fast = google_crc32c.implementation == "c"  # in plain Python it would cost more than all the rest
        self._stored, self._sum = stored, google_crc32c.Checksum() if fast and stored else None

    def add(self, data: bytes) -> None:
        """Takes the next bytes."""
        if self._sum is not None:
            self._sum.update(data)

    @property
    def holds(self) -> bool:
        """Whether all the bytes so far are right."""
        return self._sum is None or base64.b64encode(self._sum.digest()).decode() == self._stored


def _credentials_error(error: Any) -> RemoteError:
    from analyzer.live.refusals import credentials_error

    return credentials_error(error)


def _refused(error: Any, bucket: str, address: str) -> DiagnoseError:
    from analyzer.live.refusals import expired_credentials, no_quota_project, refusal_of

    refusal, status = refusal_of(error), int(error.code or 0)
    if status == 404:
        return NothingToDiagnose(
            f"there is no bucket {bucket!r}", where=address, advice="check it with `gcloud storage ls`"
        )
    if refusal.expired or status == 401:
        return expired_credentials(refusal.short)
    if refusal.lacks_quota_project:
        return no_quota_project("PROJECT_ID", refusal.short)
    if status == 403:
        return RemoteError(
            f"the bucket may not be read with these credentials ({refusal.short})",
            where=address,
            advice=f"ask for roles/storage.objectViewer: `gcloud storage buckets add-iam-policy-binding gs://{bucket} "
            "--member=user:YOU --role=roles/storage.objectViewer`",
        )
    return _failed(refusal.short, address)
