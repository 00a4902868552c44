"""Jobs read straight from the cloud: their log, their description, and both while the job still runs.

Nothing here is imported before a live job is asked for. What is fetched is kept as one JSON object a line, the form
of an export, and is read again by the readers of files: a live diagnosis is the diagnosis of that file.
"""
