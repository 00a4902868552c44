"""Masks secrets in log text, each with a mark that stays the same for the same secret: `[masked:gcp-key:3f2a]`.

Two passes. The first knows secrets by their own shape: providers' key prefixes, tokens, private keys, passwords and
signatures in URLs. The second knows them by the name before them: environment variables, arguments, JSON, headers,
cookies. What merely looks random stays (commits, UUIDs, tensors, images): the text is evidence, and evidence must be
findable in the input. Both passes are one RE2 expression each, so the work is linear whatever the text holds.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import re2

from analyzer.expressions import expression


class _Shape(NamedTuple):
    """A kind of secret and the expression that finds it; one of its `groups` is the secret itself."""

    kind: str
    pattern: str
    groups: int = 1


# From a name to its value: quotes (escaped ones too, where JSON lies in JSON) and a colon or an equals sign.
_IS = r"""\\*["']?\s*[:=]\s*\\*["']?"""

# Formats as the providers document them. A prefix alone is no proof: the length and the alphabet belong to it.
_OWN_SHAPES = (
    _Shape(
        "private-key",
        r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----"
        r"((?:\\[nr]|[A-Za-z-]+: [^\n\\]+|[A-Za-z0-9+/=\s])+)",
    ),
    _Shape("jwt", r"\b(eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_.-]*)"),
    _Shape("gcp-key", r"\b(AIza[0-9A-Za-z_-]{35})"),
    _Shape("gcp-token", r"\b(ya29\.[0-9A-Za-z_.-]{20,})"),
    _Shape("gcp-token", r"\b(1//0[0-9A-Za-z_-]{30,})"),
    _Shape("gcp-secret", r"\b(GOCSPX-[0-9A-Za-z_-]{20,})"),
    _Shape("aws-key", r"\b((?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16})\b"),
    _Shape("github-token", r"\b(gh[pousr]_[0-9A-Za-z]{36,}|github_pat_[0-9A-Za-z_]{40,})"),
    _Shape("gitlab-token", r"\b(gl(?:pat|dt|rt|cbt|ptt)-[0-9A-Za-z_.-]{20,})"),
    _Shape("slack-token", r"\b(xox[abeoprs]-[0-9A-Za-z-]{10,}|xapp-[0-9]-[0-9A-Za-z-]{10,})"),
    _Shape("slack-webhook", r"hooks\.slack\.com/(?:services|workflows|triggers)/([0-9A-Za-z/]{20,})"),
    _Shape("discord-webhook", r"discord(?:app)?\.com/api/webhooks/([0-9]+/[0-9A-Za-z_-]{20,})"),
    _Shape("openai-key", r"\b(sk-(?:proj|svcacct|admin|None)-[0-9A-Za-z_-]{20,}|sk-[0-9A-Za-z]{32,})"),
    _Shape("anthropic-key", r"\b(sk-ant-[0-9A-Za-z_-]{20,})"),
    _Shape("hf-token", r"\b(hf_[0-9A-Za-z]{30,}|api_org_[0-9A-Za-z]{30,})"),
    _Shape("wandb-key", r"\b(wandb_v1_[0-9A-Za-z_-]{20,})"),
    _Shape("wandb-key", r"wandb login\s+(?:--[a-z-]+(?:=\S+)?\s+)*([0-9a-f]{40})\b"),
    _Shape("neptune-token", r"\b(eyJhcGlfYWRkcmVzcyI6[0-9A-Za-z+/=_-]{20,})"),
    _Shape("nvidia-key", r"\b(nvapi-[0-9A-Za-z_-]{40,})"),
    _Shape("groq-key", r"\b(gsk_[0-9A-Za-z]{40,})"),
    _Shape("replicate-token", r"\b(r8_[0-9A-Za-z]{36,})"),
    _Shape("databricks-token", r"\b(dapi[0-9a-f]{32})\b"),
    _Shape("docker-token", r"\b(dckr_pat_[0-9A-Za-z_-]{20,})"),
    _Shape("npm-token", r"\b(npm_[0-9A-Za-z]{36})\b"),
    _Shape("pypi-token", r"\b(pypi-AgE[0-9A-Za-z_-]{50,})"),
    _Shape("sendgrid-key", r"\b(SG\.[0-9A-Za-z_-]{20,}\.[0-9A-Za-z_-]{40,})"),
    _Shape("stripe-key", r"\b([rs]k_(?:live|test)_[0-9A-Za-z]{20,})"),
    _Shape("vault-token", r"\b(hv[sbr]\.[0-9A-Za-z_-]{24,})"),
    _Shape("telegram-token", r"\b([0-9]{8,10}:AA[0-9A-Za-z_-]{33})\b"),
    _Shape("azure-key", r"\bAccountKey=([0-9A-Za-z+/=]{40,})"),
    _Shape(
        "kaggle-key",
        rf"""["']username{_IS}[^"'\\]*\\*["']\s*,\s*\\*["']key{_IS}([0-9a-f]{{32}})""",
    ),
    _Shape("url-password", r"[a-zA-Z][a-zA-Z0-9+.-]*://[^\s:/@?#\"'<>]*:([^\s@/?#\"'<>]+)@"),
    _Shape(
        "url-signature",
        r"(?i:[?&](?:x-goog-signature|x-amz-signature|x-amz-security-token|x-ms-token|signature|sig|token|access_token"
        r"|id_token|refresh_token|auth|api_?key|password|secret|client_secret)=)([^&\s\"'<>\\)]{6,})",
    ),
)  # fmt: skip

_VALUE = r"""(?:\\*"([^"\\\n]+)|\\*'([^'\\\n]+)|([^\s"'\\,;&)\]}>]+))"""
_SECRET_NAMES = (
    r"(?:password|passwd|passphrase|(?:db|user|sql|admin)_?pwd|secret|api[_-]?key|access[_-]?key|secret[_-]?key|private[_-]?key|account[_-]?key"
    r"|encryption[_-]?key|signing[_-]?key|access[_-]?key[_-]?secret)"
)
# `token` is the daily bread of language models, so it counts only behind a word that makes it a credential.
_TOKEN_NAMES = (
    r"(?:(?:access|auth|api|refresh|id|session|security|bearer|oauth|csrf|xsrf|login|bot|deploy|registry|service|hf|hub|face"
    r"|huggingface|wandb|github|gh|gitlab|slack|npm|pypi|neptune|comet|ngc|vault|aws|gcp|azure|docker|databricks|kaggle)[_-]?token)"
)
_NAMED = rf"(?i:{_SECRET_NAMES}|{_TOKEN_NAMES})"
_BY_NAME = (
    _Shape("cookie", rf"""(?i:\b(?:set-)?cookie){_IS}([^\s"'\\=]+=[^\n"'\\]+)"""),
    _Shape(
        "authorization",
        rf"""(?i:\b(?:proxy-)?authorization){_IS}(?:(?i:bearer|basic|token|digest|apikey)\s+)?([^\s"',;\\]{{6,}})""",
    ),
    _Shape(
        "authorization",
        rf"""(?i:\b(?:x-[a-z-]*(?:api-key|token)|private-token|api-key)){_IS}([^\s"',;\\]{{6,}})""",
    ),
    _Shape("bearer", r"(?i:\bbearer)\s+([0-9A-Za-z._~+/-]{16,}=*)"),
    _Shape("password", r"(?i:\blogin)\s+\S+\s+(?i:password)\s+(\S+)"),
    _Shape(
        "password",
        r"""\bcurl\b[^\n]*?(?:\s|["'])(?:-u|--user)(?:=|\s+|["'],\s*)["']?[A-Za-z_][\w.@-]*:([^\s"',]+)""",
    ),
    _Shape(
        "env",
        rf"""(?i:\bname){_IS}[\w.-]*{_NAMED}\\*["']?[,\s]+\\*["']?(?i:value)\\*["']?\s*[:=]\s*{_VALUE}""",
        groups=3,
    ),
    _Shape("argument", rf"""--?[\w.-]*{_NAMED}(?:\\*["'],\s*|\s+|=){_VALUE}""", groups=3),
    _Shape("secret", rf"""{_NAMED}\\*["']?\s*(?::=|=>|[:=])\s*b?{_VALUE}""", groups=3),
    _Shape("token", r"""--token(?:["'],\s*|\s+|=)["']?([0-9A-Za-z._~+/-]{8,}=*)"""),
    _Shape("token", rf"""(?i:\btoken){_IS}([0-9A-Za-z._~+/-]{{20,}}=*)"""),
)  # fmt: skip

_BY_NAME_KINDS = frozenset(shape.kind for shape in _BY_NAME)
_RANDOM_ONLY = frozenset({"bearer", "token"})

# What stands where a secret could stand and is none: a placeholder, a reference, a type, a word of an error message.
_HARMLESS = expression(
    r"(?i:true|false|none|null|nil|undefined|n/a|str|string|bytes|int|bool|optional\b.*|key|value|password|token|secret|your.*)"
    r"|(?i:required|missing|invalid|incorrect|not|is|was|must|empty|unset|wrong|expired|failed|denied|granted|enabled|disabled)"
    r"|(?i:authentication|for|and|or|x+|os\.environ.*|getpass.*|.*\(\)?)"
    r"|\*+|\.+|<.*|%.*|\{.*|\[.*|\(.*|&.*|\$[A-Z_][A-Z0-9_]*|\$[{(].*|\d{1,3}|[\d.]*\.[\d.]*"
    r"|(?:gs|s3|https?)://.*|projects/.*|(?:/[\w.@-]+)+/?"
)
_AWS_SECRET_LENGTH = 40  # such a key may begin with a slash and look like a path
_LONGEST_MARK = 48
_HALF = expression("[\ud800-\udfff]")


class _Pass:
    """One expression of all shapes."""

    def __init__(self, shapes: tuple[_Shape, ...]) -> None:
        options = re2.Options()
        options.max_mem = 128 << 20
        options.log_errors = False
        self._kinds = [shape.kind for shape in shapes for _ in range(shape.groups)]
        self._pattern: Any = re2.compile("|".join(f"(?:{shape.pattern})" for shape in shapes), options)
        assert self._pattern.groups == len(self._kinds)

    def mask(self, text: str) -> str:
        """The text with what this pass finds replaced by marks."""
        parts: list[str] = []
        done = 0
        for found in self._pattern.finditer(text):
            group = next((number for number in range(1, len(self._kinds) + 1) if found.start(number) >= 0), 0)
            if not group or _is_masked(text, found.start(group), found.end(group)):
                continue
            secret, kind = found.group(group), self._kinds[group - 1]
            if _is_harmless(secret, kind):
                continue
            parts += [text[done : found.start(group)], _mark(kind, secret)]
            done = found.end(group)
        return "".join([*parts, text[done:]]) if parts else text


def redact(text: str) -> str:
    """The text with secrets masked; everything else stays as it is. Masking twice changes nothing more.

    Half of a surrogate pair, which no file of text can hold, becomes U+FFFD.
    """
    by_shape, by_name = _passes()
    try:
        return by_name.mask(by_shape.mask(text))
    except UnicodeEncodeError:
        return redact(whole(text))


def whole(text: str) -> str:
    """The text with each half of a surrogate pair replaced by U+FFFD."""
    return _HALF.sub("\ufffd", text)


def _is_harmless(secret: str, kind: str) -> bool:
    if kind not in _BY_NAME_KINDS:
        return False
    if kind in _RANDOM_ONLY and not (any(sign.isdigit() for sign in secret) and any(sign.isalpha() for sign in secret)):
        return True
    return len(secret) != _AWS_SECRET_LENGTH and bool(_HARMLESS.fullmatch(secret))


def _is_masked(text: str, start: int, end: int) -> bool:
    """Whether the stretch holds a mark or lies in one."""
    if "[masked:" in text[start:end]:
        return True
    before = text[max(start - _LONGEST_MARK, 0) : start]
    return before.rfind("[masked:") > before.rfind("]")


def _mark(kind: str, secret: str) -> str:
    import hashlib

    digest = hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
    return f"[masked:{kind}:{digest[:4]}]"


@lru_cache(maxsize=1)
def _passes() -> tuple[_Pass, _Pass]:
    return _Pass(_OWN_SHAPES), _Pass(_BY_NAME)
