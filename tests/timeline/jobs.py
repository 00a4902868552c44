"""Jobs made up out of the documented rules of the training service, with their true timelines.

The rules: workers start in parallel and the job runs when all are up; a non-zero exit that is no permanent error is
followed by a restart on the same VM, five times at most, then by a retry of the whole job, three times at most; exit
codes of SIGABRT and SIGSEGV, a lack of capacity and internal errors lead to retries of the job (the last ones to three
attempts in all); maintenance moves a worker to another VM; a permanent error shuts the job down, though its container
may have been started again by then; a preempted Spot job is tried again six times and fails for lack of capacity; the
primary's exit with 0 ends the job.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

from analyzer.model import SECOND, Entry, Instant, JobKey, Origin

BEGIN = Instant.parse("2025-03-04T05:06:07Z") or Instant(0)


@dataclass
class TrueRun:
    """One life of a container as it really was, in seconds from the job's begin."""

    start: float
    node: str
    end: float | None = None
    exit_code: int | None = None
    reason: str = "running"
    doomed: bool = False


@dataclass
class TrueAttempt:
    """One try of the job."""

    end_reason: str | None = None
    runs: dict[str, list[TrueRun]] = field(default_factory=dict)


@dataclass
class Kinds:
    """Restarts by kind."""

    in_place: int = 0
    moved: int = 0
    doomed: int = 0
    job_retries: int = 0


class Job:
    """A job that is being simulated: what it logs, and what is true of it."""

    def __init__(self, seed: int, *, vertex: bool, prebuilt: bool, replicas: int) -> None:
        self.random = random.Random(seed)
        self.vertex, self.prebuilt = vertex, prebuilt
        self.key = JobKey("vertex" if vertex else "ai_platform", "walnut", "77001122" if vertex else f"walnut_{seed}")
        self.now = 0.0
        self.entries: list[Entry] = []
        self.attempts = [TrueAttempt()]
        self.kinds = Kinds()
        self.step: dict[str, int] = {}
        if vertex:
            self.names = ["workerpool0-0", *(f"workerpool1-{n}" for n in range(replicas - 1))]
        else:
            self.names = ["master-replica-0", *(f"worker-replica-{n}" for n in range(replicas - 1))]
        self.machines = 0

    # -- writing lines

    def wait(self, low: float, high: float) -> None:
        """Lets time pass."""
        self.now += self.random.uniform(low, high)

    def service(self, text: str, severity: str = "INFO") -> None:
        """A line of the service."""
        self._write("service", None, text, severity)

    def say(self, name: str, text: str, after: float = 0.0) -> None:
        """A line of a replica's container."""
        self._write(name, self.run(name).node, text, "INFO", after)

    def _write(self, name: str, node: str | None, text: str, severity: str, after: float = 0.0) -> None:
        time = Instant(BEGIN + int((self.now + after) * SECOND) + len(self.entries) % 997)
        origin = Origin.SERVICE if name == "service" else Origin.REPLICA
        self.entries.append(
            Entry(
                text=text, time=time, severity=severity, origin=origin, job=self.key, replica=name, node=node,
                insert_id=f"{self.random.getrandbits(40):010x}", source="export", line=len(self.entries) + 1,
            )
        )  # fmt: skip

    # -- the parts of a life cycle

    @property
    def attempt(self) -> TrueAttempt:
        """The attempt that goes on."""
        return self.attempts[-1]

    def run(self, name: str) -> TrueRun:
        """The last run of a replica in this attempt."""
        return self.attempt.runs[name][-1]

    def create(self) -> None:
        """The service accepts the job and looks for machines."""
        for text in ("Validating job requirements...", "Job creation request has been successfully validated."):
            if not self.vertex:
                self.service(text)
        self.service("Waiting for job to be provisioned.")
        if self.vertex:
            self.service("Vertex AI is setting up this job.")
        self.set_up()

    def set_up(self) -> None:
        """The service waits for the program to start."""
        self.wait(1, 3)
        self.service("Waiting for training program to start.")
        if self.vertex:
            self.wait(1, 2)
            self.service("Job is preparing.")

    def start_all(self, *, told: bool = True) -> None:
        """All replicas come up on new machines, in parallel; then the job runs."""
        self.wait(60, 240)
        for name in self.random.sample(self.names, len(self.names)):
            self.start(name, self._machine())
            self.wait(0.5, 9)
        if told and self.vertex:
            self.service("Job is running.")
        for name in self.names:
            self.say(name, "model has 12 layers", self.random.uniform(11, 14))
        self.wait(20, 30)

    def _machine(self) -> str:
        self.machines += 1
        return f"gk3-cml-0304-{self.machines:06d}-nap-{self.random.getrandbits(32):08x}"

    def start(self, name: str, node: str, *, doomed: bool = False) -> None:
        """A container starts and prints its first lines."""
        self.attempt.runs.setdefault(name, []).append(TrueRun(self.now, node, doomed=doomed))
        if self.prebuilt:
            if self.vertex:
                self.say(name, f"Updating master address to local address {node}")
                self.say(name, "Running run_module.py", 0.001)
            self.say(
                name, 'Running task with arguments: --cluster={"chief": ["h:2222"]} --task={"type": "chief"}', 0.002
            )
            self.say(name, "Running module walnut.fit.", 0.1)
            self.say(name, "Running command: python3 -m walnut.fit --depth=12", 6)
        else:
            self.say(name, "walnut 3.1 (built for CUDA 12)")
        self.say(name, "reading the vocabulary", 8 if self.prebuilt else 2)

    def train(self, seconds: float, every: float = 120.0) -> None:
        """All replicas work for a while; the first one logs steps and saves checkpoints."""
        end = self.now + seconds
        first = self.names[0]
        while self.now + every < end:
            self.wait(every * 0.9, every * 1.1)
            self.step[first] = self.step.get(first, 0) + self.random.randrange(40, 60)
            for name in self.names:
                self.say(
                    name, f"step {self.step[first]} loss {self.random.uniform(1, 3):.4f}", self.random.uniform(0, 3)
                )
            if self.random.random() < 0.2:
                self.say(
                    first, f"Saving checkpoint... step {self.step[first]} -> gs://walnut/step_{self.step[first]}.pt", 4
                )
        self.now = max(self.now + 5, end)

    def exit(self, name: str, code: int, reason: str, *, runner: bool = True) -> None:
        """A container ends by itself; a built-in runner says how."""
        run = self.run(name)
        if self.prebuilt and runner:
            command = "Command '['python3', '-m', 'walnut.fit', '--depth=12']'"
            if code in (6, 11, 15):
                signal = {6: "SIGABRT", 11: "SIGSEGV", 15: "SIGTERM"}[code]
                self.say(name, f"{command} died with <Signals.{signal}: {code}>.")
            elif code:
                self.say(name, f"{command} returned non-zero exit status {code}.")
            if self.vertex:
                self.wait(0.02, 0.04)
                word = "SUBPROCESS_EXCEPTION" if code else "SUCCEEDED"
                self.say(name, f"Task completed. Exit code ({code}). Exit reason ({word})")
            else:
                self.wait(0.02, 0.04)
                self.say(name, "Module completed; cleaning up.")
                self.say(name, "Clean up finished.", 0.01)
                if not code:
                    self.say(name, "Task completed successfully.", 0.02)
        run.end, run.exit_code, run.reason = self.now, code, reason

    def spoken(self, name: str) -> str:
        """A replica's name as the service says it."""
        return name if self.vertex else name.replace("-replica-", " ")

    def blame(self, name: str, code: int) -> None:
        """The service names the replica and its status."""
        self.wait(1.5, 4)
        self.service(
            f"The replica {self.spoken(name)} exited with a non-zero status of {code}. Termination reason: Error.",
            "ERROR",
        )

    def restart(self, name: str, *, doomed: bool = False) -> None:
        """The container is started again on the same VM."""
        self.wait(6, 14)
        self.start(name, self.run(name).node, doomed=doomed)
        if doomed:
            self.kinds.doomed += 1
        else:
            self.kinds.in_place += 1
            self.say(name, "model has 12 layers", 12)
            self.wait(20, 40)

    def stop_others(self, reason: str = "stopped") -> None:
        """The service ends what still runs."""
        self.wait(8, 15)
        for name, runs in self.attempt.runs.items():
            run = runs[-1]
            if run.end is None:
                self.say(name, "received signal 15, stopping")
                self.wait(0.2, 0.4)
                self.exit(name, 15 if self.prebuilt else 143, reason)
                if not self.prebuilt:
                    run.exit_code = None

    def finish(self, word: str | None) -> None:
        """The service's last lines."""
        self.wait(30, 60)
        self.service("Finished tearing down training program.")
        if word is not None:
            self.wait(0.2, 0.5)
            self.service(word)

    def retry(self, reason: str, *, told: bool = True) -> None:
        """The attempt is over; the whole job is tried again."""
        self.attempt.end_reason = reason
        self.kinds.job_retries += 1
        self.attempts.append(TrueAttempt())
        self.wait(40, 90)
        if told:
            self.service("Waiting for training program to start.")


def success(job: Job) -> None:
    """The primary ends with 0, which ends the others."""
    job.create()
    job.start_all()
    job.train(1800)
    succeed(job)


def succeed(job: Job) -> None:
    """The last lines of a success."""
    job.exit(job.names[0], 0, "completed")
    job.wait(15, 20)
    job.service("Tearing down training program.")
    job.stop_others()
    job.finish("Job completed successfully.")
    job.attempt.end_reason = "success"


def fail_for_good(job: Job, name: str) -> None:
    """A permanent error: the container is started again in vain, then the job is shut down."""
    job.say(
        name,
        "Traceback (most recent call last):\n  File \"/app/fit.py\", line 3, in <module>\n    main()\nKeyError: 'depth'",
    )
    job.wait(1, 2)
    job.exit(name, 1, "error")
    job.restart(name, doomed=True)
    job.blame(name, 1)
    job.run(name).reason = "stopped"
    job.stop_others()
    job.finish("Job failed.")
    job.attempt.end_reason = "user_exception"


def exception(job: Job) -> None:
    """A permanent error after some work."""
    job.create()
    job.start_all()
    job.train(900)
    fail_for_good(job, job.random.choice(job.names))


def fail_and_restart(job: Job, name: str, times: int) -> None:
    """Errors that are not permanent, each followed by a restart in place."""
    for _ in range(times):
        job.train(job.random.uniform(200, 700))
        job.say(name, "the queue is gone, leaving to be started again")
        job.wait(0.5, 1)
        job.exit(name, 75, "retryable")
        if not job.prebuilt:
            job.blame(name, 75)
        job.restart(name)


def restarts(job: Job) -> None:
    """A few restarts in place, then success."""
    job.create()
    job.start_all()
    fail_and_restart(job, job.random.choice(job.names), job.random.randrange(1, 5))
    job.train(600)
    succeed(job)


def exhausted(job: Job) -> None:
    """Five restarts of one worker, twice; then the job succeeds."""
    job.create()
    for told in (True, False):
        job.start_all(told=told)
        name = job.random.choice(job.names)
        fail_and_restart(job, name, 5)
        job.train(300)
        job.wait(0.5, 1)
        job.exit(name, 75, "retryable")
        job.stop_others()
        job.retry("restarts_exhausted", told=False)
    job.start_all(told=False)
    job.train(600)
    succeed(job)


def crashes(job: Job) -> None:
    """A transient exit code leads to retries of the whole job, three at most."""
    job.create()
    for attempt in range(4):
        job.start_all()
        job.train(job.random.uniform(300, 900))
        name = job.random.choice(job.names)
        code = 11 if job.prebuilt else 139
        job.exit(name, code, "crash")
        job.blame(name, code)
        job.stop_others()
        if attempt < 3:
            job.retry("crash", told=job.random.random() < 0.5)
    job.finish("Job failed.")
    job.attempt.end_reason = "crash"


def maintenance(job: Job) -> None:
    """A VM is replaced by another one under a worker; the job goes on."""
    job.create()
    job.start_all()
    job.train(900)
    name = job.random.choice(job.names)
    run = job.run(name)
    job.say(name, "received signal 15, stopping")
    run.end, run.reason = job.now, "maintenance"
    others = [other for other in job.names if other != name]
    job.wait(200, 300)
    for other in others:
        job.say(other, "still waiting for a peer")
    job.start(name, job._machine())
    job.kinds.moved += 1
    job.wait(20, 40)
    job.train(600)
    succeed(job)


def stockouts(job: Job) -> None:
    """Twice no capacity, then success."""
    job.create()
    for _ in range(2):
        job.wait(500, 900)
        job.service(
            "Resources are insufficient in region: europe-west4. Try a different region or use a different accelerator.",
            "ERROR",
        )
        job.retry("stockout", told=job.random.random() < 0.7)
    job.start_all()
    job.train(600)
    succeed(job)


def internal_errors(job: Job) -> None:
    """Three attempts end with an internal error."""
    job.create()
    for attempt in range(3):
        job.wait(300, 600)
        job.service("Internal error occurred for the current attempt.", "ERROR")
        if attempt < 2:
            job.retry("internal")
    job.finish("Job failed.")
    job.attempt.end_reason = "internal"


def spot(job: Job) -> None:
    """A Spot job is preempted until its six restarts are used up."""
    job.create()
    for attempt in range(7):
        job.start_all(told=attempt == 0 or job.random.random() < 0.3)
        job.train(job.random.uniform(400, 900))
        victim = job.run(job.names[0])
        job.say(job.names[0], "received signal 15, stopping")
        job.wait(2, 4)
        victim.end, victim.reason = job.now, "preempted"
        for name in job.names[1:]:
            job.run(name).end, job.run(name).reason = job.now + 9, "stopped"
        if attempt < 6:
            job.retry("preemption", told=False)
            job.wait(400, 900)
    job.wait(8, 12)
    job.service(
        "Resources are insufficient in region: europe-west4. Try a different region or use a different accelerator.",
        "ERROR",
    )
    job.finish("Job failed.")
    job.attempt.end_reason = "preemption"


def cancelled(job: Job) -> None:
    """Someone cancels the job while it runs."""
    job.create()
    job.start_all()
    job.train(900)
    job.service("Tearing down training program.")
    job.stop_others()
    job.finish(None)
    job.attempt.end_reason = "cancelled"


SCENARIOS: tuple[Callable[[Job], None], ...] = (
    success, exception, restarts, exhausted, crashes, maintenance, stockouts, internal_errors, cancelled, spot,
)  # fmt: skip


def make(
    scenario: Callable[[Job], None],
    seed: int,
    *,
    prebuilt: bool = True,
    vertex: bool | None = None,
    replicas: int | None = None,
) -> Job:
    """A simulated job. Spot machines are Vertex AI's alone."""
    chosen = random.Random(seed)
    on_vertex = chosen.random() < 0.5 if vertex is None else vertex
    job = Job(
        seed, vertex=on_vertex or scenario is spot, prebuilt=prebuilt, replicas=replicas or chosen.randrange(1, 6)
    )
    scenario(job)
    return job
