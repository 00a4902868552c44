"""What a GKE cluster says of a job: its object and its pods, out of the cluster's own API where the caller may.

The way there comes from the GKE API: the cluster's name in the DNS where that is open to users, whose certificate is a
public one; else its address, which only the cluster's own authority vouches for. Credentials go nowhere else.
https://cloud.google.com/kubernetes-engine/docs/reference/rest/v1/projects.locations.clusters
"""

from __future__ import annotations

import base64
import binascii
import ipaddress
import re
import tempfile
from collections.abc import Iterable
from typing import Any

import msgspec
from google.auth.exceptions import GoogleAuthError

from analyzer.facts.tables import table_rows
from analyzer.formats.shape import as_dict, as_list
from analyzer.live.answers import NoAnswer, ask
from analyzer.live.connection import Connection
from analyzer.live.descriptions import Described, Place
from analyzer.live.observed import Workload
from analyzer.live.refusals import refusal_in
from analyzer.live.target import Service, Target
from analyzer.model import Note

GKE_API = "container.googleapis.com"
_CONNECT = 5.0  # seconds; a private address that cannot be reached from here answers nothing at all
_PODS = 500
_MOST = 3  # places in which a job is looked for
_DNS_NAME = re.compile(r"[a-z0-9.-]+\.gke\.goog", re.ASCII)
_LOCAL = ipaddress.ip_network("127.0.0.0/8")


class Door(msgspec.Struct, frozen=True):
    """Where a cluster's API is, and the authority (PEM) that vouches for it; None for the public ones."""

    base: str
    authority: bytes | None = None


def door_of(cluster: dict[str, Any], *, local: bool = False) -> Door | None:
    """The way to a cluster out of its description; None where it has none that users may take.

    `local`: all services are on this machine, and so must the cluster be.
    """
    dns = as_dict(as_dict(cluster.get("controlPlaneEndpointsConfig")).get("dnsEndpointConfig"))
    name = str(dns.get("endpoint") or "")
    if dns.get("allowExternalTraffic") is True and _DNS_NAME.fullmatch(name) and not local:
        return Door(f"https://{name}")
    host, _, port = str(cluster.get("endpoint") or "").partition(":")
    try:
        address = ipaddress.IPv4Address(host)
        authority = base64.b64decode(str(as_dict(cluster.get("masterAuth")).get("clusterCaCertificate") or ""))
    except (ValueError, binascii.Error):
        return None
    if not authority or (address in _LOCAL) is not local or (port and not port.isdecimal()):
        return None
    return Door(f"https://{address}" + (f":{port}" if port else ""), authority)


class _Unavailable(Exception):
    """A cluster does not tell; the words say why."""


class Clusters:
    """Looks a job up in the clusters that its log names. `notes` say what stood in the way, and what helps."""

    def __init__(self, connection: Connection, target: Target) -> None:
        self._connection, self._target = connection, target
        self._session = connection.session
        self._found: tuple[Door, Workload, dict[str, str]] | None = None
        self.notes: list[Note] = []

    def look(self, workloads: Iterable[Workload]) -> Described | None:
        """The job's object and pods; None where no cluster tells."""
        if self._session is None:
            return None
        for workload in sorted(workloads)[:_MOST]:
            try:
                described = self._look(workload)
            except _Unavailable as why:
                self.notes.append(self._note(workload, str(why)))
                continue
            if described is not None:
                self.notes.clear()
                return described
            self.notes.append(self._note(workload, "no object of that name is there any more"))
        return None

    def again(self, known: Described) -> Described:
        """The same job as it stands now (as it was known, where that cannot be told)."""
        if self._found is None:
            return known
        try:
            return self._describe(*self._found) or known
        except _Unavailable:
            return known

    def _look(self, workload: Workload) -> Described | None:
        path = f"/v1/projects/{workload.project}/locations/{workload.location}/clusters/{workload.cluster}"
        endpoints = self._connection.endpoints
        cluster = self._get(endpoints.api_base(GKE_API) + path, True)
        door = door_of(cluster or {}, local=endpoints.local)
        if door is None:
            raise _Unavailable("it has no address that can be used from here")
        for row in (*table_rows("controllers"), _POD):
            described = self._describe(door, workload, row)
            if described is not None:
                self._found = door, workload, row
                return described
        return None

    def _describe(self, door: Door, workload: Workload, row: dict[str, str]) -> Described | None:
        name, space = self._target.id, f"/namespaces/{workload.namespace}"
        path = f"/{row['api']}{space}/{row['plural']}/{name}"
        job = self._ask(door, path)
        if job is None:
            return None
        documents = [{"kind": row["kind"], **job}]
        if row["pod_label"]:
            pods = self._ask(door, f"/api/v1{space}/pods?labelSelector={row['pod_label']}%3D{name}&limit={_PODS}")
            documents += [{**pods, "kind": "PodList"}] if pods is not None and as_list(pods.get("items")) else []
        place = Place(Service.GKE, door.base, path, workload.location)
        return Described(place=place, documents=documents, subject=name, ids=(name,))

    def _ask(self, door: Door, path: str) -> dict[str, Any] | None:
        if door.authority is None:
            return self._get(door.base + path, True)
        with tempfile.NamedTemporaryFile(suffix=".pem") as file:
            file.write(door.authority)
            file.flush()
            return self._get(door.base + path, file.name)

    def _get(self, url: str, verify: bool | str) -> dict[str, Any] | None:
        """The JSON object at an address; None where there is none."""
        if self._session is None:
            return None
        try:
            answer = ask(self._session, url, verify=verify, connect=_CONNECT)
        except (NoAnswer, GoogleAuthError) as error:
            why = error if isinstance(error, NoAnswer) else type(error).__name__
            raise _Unavailable(f"it cannot be reached from here ({why})") from error
        body = answer.body
        if answer.status == 200 and isinstance(body, dict):
            return body
        if answer.status == 404:
            return None
        message = body.get("message") if isinstance(body, dict) and body.get("kind") == "Status" else None
        words = str(message) if message else refusal_in(body, answer.status).short
        allow = "; roles/container.viewer would allow it" if answer.status == 403 else ""
        raise _Unavailable(f"{words}{allow}")

    def _note(self, workload: Workload, why: str) -> Note:
        place = f"{workload.cluster} --location={workload.location} --project={workload.project}"
        command = (
            f"gcloud container clusters get-credentials {place} && "
            f"kubectl get jobs,pods --namespace={workload.namespace} --output=yaml > {self._target.id}.yaml"
        )
        return Note(
            "no_description",
            f"the job's description is not known from cluster {workload.cluster} ({why}); "
            f"`{command}` makes a file that --job-file takes",
        )


_POD = {"kind": "Pod", "api": "api/v1", "plural": "pods", "pod_label": ""}
