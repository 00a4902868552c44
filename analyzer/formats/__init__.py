"""From bytes to entries: one module a form, recognised by content.

`Entry.fields` holds the structured facts of events and descriptions. Its `kind` says of what: `event` (Kubernetes
Event), `container` (a container's state), `pod`, `job`, `node`, `workload`, `provisioning_request`, `audit`,
`autoscaler`, `task`, `trial`. Plain log lines have no `kind`; they may have `container`, `trial` or `platform` where
the form states it.

Keys beside the common ones (reason, state, phase, type, status, exit_code, signal, container, pod, uid, namespace,
cluster, owner_*, restart_count, last_state, started, finished, created, code, machine_type, accelerator*, region, zone,
project, display_name, method, principal, resource, memory_limit, image, count, involved_*, replica_names, scheduling,
oom_killed):

- events of tables and descriptions: `age_seconds`, `first_age_seconds` (before the table was printed); `component` (who
  reported it)
- containers: `init` (an init container); jobs: `restart_limit`, `failed`, `succeeded`, `active` (pods), `disk_gb`,
  `machine_types` (of each worker pool); Batch: `event` (a status event, not the current state)
- Vertex AI: `backing_job`, `failed_jobs` (ids of the custom jobs behind a pipeline's task, a trial or a pipeline)
- nodes: `capacity_memory`, `allocatable_memory`, `spot`; audit: `service`; Slurm: `peak_memory`
"""

from analyzer.formats.ndjson import Lines
from analyzer.formats.read import read_parts, read_source

__all__ = ["Lines", "read_parts", "read_source"]
