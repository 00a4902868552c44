"""From bytes to entries: one module a form, recognised by content.

`Entry.fields` holds the structured facts of events and descriptions. Its `kind` says of what: `event` (Kubernetes
Event), `container` (a container's state), `pod`, `job`, `node`, `workload`, `provisioning_request`, `audit`,
`autoscaler`, `task`, `trial`. Plain log lines have no `kind`; they may have `container`, `trial` or `platform` where
the form states it.
"""

from analyzer.formats.ndjson import Lines
from analyzer.formats.read import read_parts, read_source

__all__ = ["Lines", "read_parts", "read_source"]
