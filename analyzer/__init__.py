"""Says why an ML training job failed, proves it with the line that matters, and rebuilds its restart timeline."""

__version__ = "0.1.0"
