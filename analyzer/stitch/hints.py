"""Lines that never begin a message of their own: libraries print them right below the error that they explain.

Each phrase is the beginning of a line in the message formats of the library named beside it.
"""

from __future__ import annotations

from analyzer.expressions import expression

# Below any line, also one that is no Python exception.
ANYWHERE = (
    # torch: CUDA errors, C++ stacks of c10::Error
    "CUDA kernel errors might be asynchronously", "For debugging consider passing CUDA_LAUNCH_BLOCKING",
    "Compile with `TORCH_USE_CUDA_DSA", "Device-side assertions were explicitly omitted", "Search for `cuda",
    "Exception raised from ", "frame #", "(no backtrace available)",
    # NCCL by way of torch.distributed
    "ncclSystemError: ", "ncclInternalError: ", "ncclUnhandledCudaError: ", "ncclRemoteError: ", "ncclInvalidUsage: ",
    "ncclInvalidArgument: ", "Last error:",
    # C++ runtime
    "what():",
    # TensorFlow: runtime errors of a graph, coordination service
    "[[{{", "[Op:", "Hint: If you want to see a list of allocated tensors", "Function call stack:", "Caused by op ",
    "Original stack trace for", "Detected at node", "Node: '", "Errors may have originated from an input operation",
    "Input Source operations connected to node", "Additional GRPC error information", '{"created"', ':{"created"',
    "/job:", "The tasks have crashed", "RPC: /tensorflow.",
    # XLA and libtpu: what memory went to
    "Total hbm usage", "Output size ", "Program hbm requirement", "Largest program allocations", "BufferAssignment",
    "Allocations sorted by size", "Peak buffers:", "Live Buffers",
    # JAX
    "For simplicity, JAX has removed its internal frames", "The stack trace below excludes JAX-internal frames",
    "The preceding is the original exception that occurred",
    # Hydra, the managed training service, torch.multiprocessing.spawn, site, Spark
    "Set the environment variable HYDRA_FULL_ERROR", "To find out more about why your job exited", "-- Process ",
    "Remainder of file ignored", "Driver stacktrace:",
    # Ray
    "The actor is dead because", "The actor died", "Memory on the node (IP",
    "Refer to the documentation on how to address the out of memory",
)  # fmt: skip

# Below an exception only.
IN_EXCEPTION = (
    # Python's logging, when a record cannot be written
    "Call stack:", "Message: ", "Arguments: ",
    "Original error was:", "Original exception was:", "More information: ", "```",
    # Hugging Face Hub and Transformers
    "Cannot access gated repo", "Access to model ", "Please make sure you specified the correct `repo_id`",
    "If you are trying to access a private", "If this is a private repository", "Checkout your internet connection",
    "Repository Not Found for url", "Entry Not Found for url", "Revision Not Found for url", "Invalid credentials",
    "Invalid username or password", "Make sure to have access to it at", "Your request to access model",
    "401 Client Error", "403 Client Error", "404 Client Error", "Please log in",
    "Please note that you may need to restart",
    # NumPy, protobuf
    "IMPORTANT: PLEASE READ THIS", "Importing the numpy C-extensions failed", "We have compiled some common reasons",
    "Please note and check the following", "and make sure that they are the versions", "Please carefully study the",
    "`np.", "The aliases was originally deprecated", "If this call came from a _pb2.py",
    "If you cannot immediately regenerate",
    # torch: loading, compiling, building
    "Check the documentation of torch.load", "Set TORCH_LOGS", "Set TORCHDYNAMO_VERBOSE", "from user code:", "FAILED: ",
    "You can suppress this exception", "ninja: build stopped",
    # Ray
    "This process on ", "Top 10 memory users", "PID\tMEM", "The worker died", "Worker exit type",
    # Vertex AI SDK (a google.rpc.Status in text form)
    "code: ", 'message: "', "details {",
    # Kubernetes client, SQLAlchemy, TensorFlow
    "Failed to load the native TensorFlow runtime", "See https://www.tensorflow.org/install/errors",
    "for some common reasons and solutions", "above this error message when asking for help",
    "Reason: ", "HTTP response headers", "HTTP response body", "[SQL: ", "[parameters: ",
    "(Background on this error at", "0 successful operations", "0 derived errors ignored", "1 successful operations",
    "1 derived errors ignored",
)  # fmt: skip

# Of those, what is said after an exception's message and is no part of it.
AFTERWORDS = (
    "Set the environment variable HYDRA_FULL_ERROR", "To find out more about why your job exited",
    "Remainder of file ignored", "For simplicity, JAX has removed its internal frames",
    "The stack trace below excludes JAX-internal frames", "Failed to load the native TensorFlow runtime",
)  # fmt: skip

_MEMORY_USER = expression(r"^\d+\t[\d.]+\t")
_CODE_TRACE = expression(
    r"\s+at [\w.$<>/]+\(|\s*\.\.\. \d+ (?:more|common frames omitted)|Caused by: |\s+Suppressed: "
    r"|: (?:org|java|com|scala)\."
)
CODE_TRACE_WORDS = ("\tat ", "    at ", " more", "Caused by: ", "Suppressed: ", "frames omitted", ": org.", ": java.")
LOG_TAILS = ("future: <Task", "future: <Future")


def is_hint(line: str) -> bool:
    """Whether a line explains the one before it, whatever that is, and never stands alone."""
    return line.lstrip().startswith(ANYWHERE)


def is_hint_in_exception(line: str) -> bool:
    """Whether a line right below an exception is part of its message."""
    return line.lstrip().startswith(IN_EXCEPTION) or _MEMORY_USER.match(line) is not None


def is_log_tail(line: str) -> bool:
    """Whether a line is the second one of a log record of asyncio, which names the task."""
    return line.startswith(LOG_TAILS)


def is_code_trace(line: str) -> bool:
    """Whether it is a line of a Java stack below its exception."""
    return _CODE_TRACE.match(line) is not None
