"""What the services' APIs say of a job: which service it belongs to, since when it exists, how it stands.

Asked for by plain REST, where the caller may; a refusal or failure is a note, since the log alone may tell the story.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import msgspec
from google.auth.exceptions import GoogleAuthError, InvalidOperation, RefreshError

from analyzer.facts.tables import table_rows
from analyzer.formats.shape import as_dict, as_list
from analyzer.live.answers import Answer, NoAnswer, ask
from analyzer.live.connection import AT_ONCE, Connection
from analyzer.live.pace import Clock
from analyzer.live.refusals import Refusal, expired_credentials, refusal_in
from analyzer.live.target import Service, Target
from analyzer.model import Instant, Note

_TASKS = 500
_AGAIN = 2
"""How often an answer is asked for again that fails in a way which passes."""
_FAILURES = 3
_NO_SUCH = (400, 404)  # a service that gives no such ids refuses the words of the request
_VERTEX_KINDS = ("customJobs", "hyperparameterTuningJobs", "trainingPipelines", "pipelineJobs")
_OVER = ("SUCCEEDED", "FAILED", "CANCELLED", "EXPIRED", "PARTIALLY_SUCCEEDED")
_LAST_CONDITIONS = {"Complete": "SUCCEEDED", "Completed": "SUCCEEDED", "Succeeded": "SUCCEEDED", "Failed": "FAILED"}
"""What the conditions that end a Job, a JobSet and Kubeflow's jobs mean."""
_VIEWERS = {
    Service.VERTEX: "roles/aiplatform.viewer",
    Service.AI_PLATFORM: "roles/ml.viewer",
    Service.BATCH: "roles/batch.jobsViewer",
}


class Place(msgspec.Struct, frozen=True):
    """An address at which a job may be described."""

    service: Service
    host: str
    path: str
    region: str | None = None


class Described(msgspec.Struct, frozen=True, kw_only=True):
    """A job as its API describes it.

    `documents` are the answers as they came: the job, the jobs that it runs, its tasks. `subject` is the id of the job
    whose log tells the story: that of a pipeline's failed task, else the job's own. `ids` are all whose entries belong
    to it, `uids` the names that Batch writes into entries.
    """

    place: Place
    documents: list[dict[str, Any]]
    subject: str
    ids: tuple[str, ...]
    uids: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()

    @property
    def created(self) -> Instant | None:
        """When the job was made."""
        job = self.documents[0]
        value = job.get("createTime") or as_dict(job.get("metadata")).get("creationTimestamp")
        return Instant.parse(value)

    @property
    def state(self) -> str:
        """The job's state without the API's prefix (`RUNNING`); "" where none is told."""
        job = self.documents[0]
        status = as_dict(job.get("status"))
        return _bare(job.get("state") or status.get("state") or _object_state(status))

    @property
    def is_over(self) -> bool:
        """Whether the job has come to its end."""
        return self.state in _OVER


class Descriptions:
    """Looks a job up; what the caller may not see becomes a note, once a service."""

    def __init__(self, connection: Connection, target: Target, clock: Clock) -> None:
        self._connection, self._target, self._clock = connection, target, clock
        self._session = connection.session
        self._refused: dict[Service, Note | None] = {}
        self._failed: dict[Service, tuple[int, Note | None]] = {}

    def notes(self, services: Collection[Service]) -> list[Note]:
        """What stood in the way of descriptions by these services."""
        failed = {service: note for service, (_, note) in self._failed.items()}
        found = ((failed | self._refused).get(service) for service in sorted(services))
        return [note for note in found if note is not None]

    def look(self, regions: Sequence[str]) -> Described | None:
        """The job's description, looked for in these regions and where regions play no part; None if there is none."""
        if self._session is None:
            return None
        for places in _places(self._target, regions):
            found = next((item for item in self._ask(places) if item[1] is not None), None)
            if found is not None and found[1] is not None:
                return self._described(found[0], found[1])
        return None

    def again(self, known: Described) -> Described:
        """The same job as it stands now (as it was known, where that cannot be told)."""
        self._failed.clear()
        job = self._get(known.place)
        return known if job is None else self._described(known.place, job)

    def _ask(self, places: Sequence[Place]) -> Iterator[tuple[Place, dict[str, Any] | None]]:
        if len(places) < 2:
            yield from ((place, self._get(place)) for place in places)
            return
        with ThreadPoolExecutor(AT_ONCE) as pool:
            yield from zip(places, pool.map(self._get, places), strict=True)

    def _get(self, place: Place) -> dict[str, Any] | None:
        """The JSON object at an address; None where there is none or it may not be seen."""
        if place.service in self._refused or self._session is None:
            return None
        if self._failed.get(place.service, (0, None))[0] >= _FAILURES:
            return None
        try:
            answer = self._patiently(self._connection.endpoints.api_base(place.host) + place.path)
        except (RefreshError, InvalidOperation) as error:
            self._refusal(place.service, Refusal("UNAUTHENTICATED", str(error)), 401)
        except NoAnswer as error:
            if not error.absent:  # a region without the service has no address
                self._failure(place.service, str(error), final=error.slow)
        except GoogleAuthError as error:
            self._failure(place.service, type(error).__name__)
        else:
            if answer.status == 200 and isinstance(answer.body, dict):
                return answer.body
            self._refusal(place.service, refusal_in(answer.body, answer.status), answer.status)
        return None

    def _patiently(self, url: str) -> Answer:
        """An answer; a failure that passes quickly is waited for."""
        assert self._session is not None
        for _ in range(_AGAIN):
            try:
                answer = ask(self._session, url)
            except NoAnswer as error:
                if error.absent or error.slow:
                    raise
                self._clock.sleep(1.0)
                continue
            if answer.wait is None:
                return answer
            self._clock.sleep(answer.wait)
        return ask(self._session, url)

    def _failure(self, service: Service, why: str, *, final: bool = False) -> None:
        """Notes that a service fails; one that does so several times, or costs much time, is left alone for now."""
        count = _FAILURES if final else self._failed.get(service, (0, None))[0] + 1
        text = f"the job's description could not be asked for: {service} fails ({why})"
        self._failed[service] = count, Note("no_description", text)

    def _refusal(self, service: Service, refusal: Refusal, status: int) -> None:
        if status == 401:
            text = f"the job's description could not be asked for: {expired_credentials(refusal.short)}"
            self._refused.setdefault(service, Note("no_description", text))
        elif status == 403 and refusal.disabled:
            self._refused.setdefault(service, None)  # then no job of the project is there
        elif status == 403:
            text = f"the job's description at {service} may not be read ({refusal.short})"
            text += "" if refusal.lacks_quota_project else f"; {_VIEWERS[service]} would allow it"
            self._refused.setdefault(service, Note("no_description", text))
        elif status not in _NO_SUCH:
            said = refusal.short if refusal.status.isdecimal() else f"{refusal.status}: {refusal.short}"
            self._failure(service, said if status != 200 else "its answer is no description")

    def _described(self, place: Place, job: dict[str, Any]) -> Described:
        if place.service is Service.BATCH:
            return self._batch(place, job)
        documents, subject, ids, notes = [job], self._target.id, [self._target.id], []
        inner, words = _backing(job)
        for path in inner:
            ids.append(path.rpartition("/")[2])
            region = path.split("/")[3] if path.count("/") == 5 else place.region
            one = self._get(_vertex(region or "", path if "/" in path else self._path("customJobs", path, region)))
            documents += [one] if one is not None else []
        if inner:
            subject = ids[1]
            notes.append(Note("subject", f"{words}: what is diagnosed is the job {subject}, which it ran"))
        return Described(place=place, documents=documents, subject=subject, ids=tuple(ids), notes=tuple(notes))

    def _path(self, kind: str, job: str, region: str | None) -> str:
        return f"projects/{self._target.project}/locations/{region}/{kind}/{job}"

    def _batch(self, place: Place, job: dict[str, Any]) -> Described:
        documents = [job]
        tasks = self._get(
            msgspec.structs.replace(place, path=f"{place.path}/taskGroups/group0/tasks?pageSize={_TASKS}")
        )
        if tasks is not None and as_list(tasks.get("tasks")):
            documents.append({"tasks": tasks["tasks"]})
        uid = job.get("uid")
        uids = (uid,) if isinstance(uid, str) else ()
        return Described(place=place, documents=documents, subject=self._target.id, ids=(self._target.id,), uids=uids)


def known_regions() -> list[str]:
    """Regions in which the services are, to look through when none is named and the log names none."""
    return sorted({row["region"] for row in table_rows("accelerator_regions")})


def _places(target: Target, regions: Sequence[str]) -> Iterator[list[Place]]:
    """Addresses to ask, in turns: a turn's addresses may be asked at once."""
    project, job, services = target.project, target.id, target.services
    if Service.AI_PLATFORM in services:
        yield [Place(Service.AI_PLATFORM, "ml.googleapis.com", f"/v1/projects/{project}/jobs/{job}")]
    if Service.BATCH in services:
        path = f"/v1/projects/{project}/locations/{{}}/jobs/{job}"
        yield [Place(Service.BATCH, "batch.googleapis.com", path.format(region), region) for region in regions]
    if Service.VERTEX in services:
        for kind in _VERTEX_KINDS if job.isdecimal() else _VERTEX_KINDS[-1:]:
            yield [_vertex(r, f"projects/{project}/locations/{r}/{kind}/{job}") for r in regions]


def _vertex(region: str, path: str) -> Place:
    return Place(Service.VERTEX, f"{region}-aiplatform.googleapis.com", f"/v1/{path}", region)


def _backing(job: dict[str, Any]) -> tuple[list[str], str]:
    """Names of the jobs that a training pipeline or a pipeline ran, the one that tells the story first; and why."""
    metadata = as_dict(job.get("trainingTaskMetadata"))
    backing = metadata.get("backingCustomJob") or metadata.get("backingHyperparameterTuningJob")
    if isinstance(backing, str):
        return [backing], "this is a training pipeline"
    tasks = [as_dict(task) for task in as_list(as_dict(job.get("jobDetail")).get("taskDetails"))]
    failed = sorted((t for t in tasks if _bare(t.get("state")) == "FAILED"), key=lambda t: str(t.get("endTime")))
    running = [task for task in tasks if _bare(task.get("state")) == "RUNNING"]
    named = [(task, path) for task in failed or running for path in _task_jobs(task)]
    if not named:
        return [], ""
    words = f"this is a pipeline, whose task {named[0][0].get('taskName')!r} {'failed' if failed else 'runs'}"
    return list(dict.fromkeys(path for _, path in named)), words


def _task_jobs(task: dict[str, Any]) -> Iterable[str]:
    executor = as_dict(task.get("executorDetail"))
    custom, container = as_dict(executor.get("customJobDetail")), as_dict(executor.get("containerDetail"))
    path = custom.get("job") or container.get("mainJob")
    return [path] if isinstance(path, str) and path else []


def _object_state(status: dict[str, Any]) -> str:
    """How a Kubernetes object stands: by its conditions that are the last, its phase, else by pods that are active."""
    for condition in map(as_dict, as_list(status.get("conditions"))):
        if condition.get("status") == "True" and condition.get("type") in _LAST_CONDITIONS:
            return _LAST_CONDITIONS[condition["type"]]
    words = next((status[key] for key in ("jobStatus", "phase") if isinstance(status.get(key), str)), "")
    return words or ("RUNNING" if status.get("active") else "")


def _bare(state: Any) -> str:
    return str(state or "").upper().removeprefix("JOB_STATE_").removeprefix("PIPELINE_STATE_")
