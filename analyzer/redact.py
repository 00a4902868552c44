"""Masks secrets in log text, each with a mark that stays the same for the same secret: `[masked:gcp-key:3f2a]`.

Three passes. The first knows secrets by their own shape: providers' key prefixes, tokens, private keys, passwords and
signatures in URLs. The second knows them by the name before them: environment variables, arguments, JSON, headers,
cookies. The third knows the lines of a key. What merely looks random stays (commits, UUIDs, tensors, images): the text
is evidence, and evidence must be findable in the input. Each pass is one RE2 expression, so the work is linear whatever
the text holds.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar

import msgspec
import re2

from analyzer.expressions import expression

_Value = TypeVar("_Value")
_NAMES = frozenset(("id", "insert_id", "link", "rule"))
"""Fields that name a job, an entry or a rule, and are looked up by these names."""


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
        r"((?:\\+[nr]|[A-Za-z-]+: [^\n\\]+|[A-Za-z0-9+/=\s])+)",
    ),
    _Shape("jwt", r"\b(eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_.-]*)"),
    _Shape("gcp-key", r"\b(AIza[0-9A-Za-z_-]{35})"),
    _Shape("gcp-token", r"\b(ya29\.[0-9A-Za-z_.-]{20,})"),
    _Shape("gcp-token", r"\b(1//0[0-9A-Za-z_-]{30,})"),
    _Shape("gcp-secret", r"\b(GOCSPX-[0-9A-Za-z_-]{20,})"),
    _Shape("gcp-secret", r"\b(AAAA[0-9A-Za-z_-]{7}:APA91b[0-9A-Za-z_-]{100,})"),
    _Shape("azure-secret", r"\b([0-9A-Za-z_~.]{3}[0-9]Q~[0-9A-Za-z_~.-]{31,34})"),
    _Shape("aws-key", r"\b((?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16})\b"),
    _Shape("github-token", r"\b(gh[pousr]_[0-9A-Za-z]{36,}|github_pat_[0-9A-Za-z_]{40,})"),
    _Shape("gitlab-token", r"\b(gl(?:pat|dt|rt|cbt|ptt)-[0-9A-Za-z_.-]{20,})"),
    _Shape("slack-token", r"\b(xox[abeoprs]-[0-9A-Za-z-]{10,}|xapp-[0-9]-[0-9A-Za-z-]{10,})"),
    _Shape("slack-webhook", r"hooks\.slack\.com/(?:services|workflows|triggers)/([0-9A-Za-z/]{20,})"),
    _Shape("discord-webhook", r"discord(?:app)?\.com/api/webhooks/([0-9]+/[0-9A-Za-z_-]{20,})"),
    _Shape("openai-key", r"\b(sk-(?:proj|svcacct|admin|None)-[0-9A-Za-z_-]{20,}|sk-[0-9A-Za-z]{32,})"),
    _Shape("anthropic-key", r"\b(sk-ant-[0-9A-Za-z_-]{20,})"),
    _Shape("model-api-key", r"\b(sk-(?:or|lf|lm)-[0-9A-Za-z-]{30,}|xai-[0-9A-Za-z]{60,}|pplx-[0-9A-Za-z]{40,})"),
    _Shape("model-api-key", r"\b(pcsk_[0-9A-Za-z_]{40,})"),
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
    _Shape("service-token", r"\b(do[opr]_v1_[0-9a-f]{64}|gl(?:sa|c)_[0-9A-Za-z+/=_]{32,}|lin_api_[0-9A-Za-z]{32,})"),
    _Shape("service-token", r"\b(tskey-[a-z]+-[0-9A-Za-z]+-[0-9A-Za-z]{20,}|NRAK-[0-9A-Z]{27})"),
    _Shape("service-token", r"\b(ntn_[0-9A-Za-z]{40,}|ATATT3[0-9A-Za-z_=-]{60,})"),
    _Shape("private-key", r"\b(AGE-SECRET-KEY-1[0-9A-Z]{58})"),
    _Shape("password-hash", r"(\$2[abxy]\$[0-9]{2}\$[./0-9A-Za-z]{53})"),
    _Shape("password-hash", r"(\$[56]\$[./0-9A-Za-z]{1,16}\$[./0-9A-Za-z]{43,86})"),
    _Shape("telegram-token", r"\b([0-9]{8,10}:AA[0-9A-Za-z_-]{33})\b"),
    _Shape("azure-key", r"\bAccountKey=([0-9A-Za-z+/=]{40,})"),
    _Shape(
        "kaggle-key",
        rf"""["']username{_IS}[^"'\\]*\\*["']\s*,\s*\\*["']key{_IS}([0-9a-f]{{32}})""",
    ),
    _Shape("url-password", r"[a-zA-Z][a-zA-Z0-9+.-]*://[^\s:/@?#\"'<>]*:([^\s@/?#\"'<>]+)@"),
    _Shape("signature", r"\bAWS4-HMAC-SHA256 [^\n]{0,300}?Signature=([0-9a-f]{64})"),
    _Shape("docker-login", r"""\\*["']auth\\*["']\s*:\s*\\*["']([0-9A-Za-z+/]{8,}=*)\\*["']"""),
    _Shape(
        "url-signature",
        r"(?i:[?&](?:x-goog-signature|x-amz-signature|x-amz-security-token|x-ms-token|signature|sig|token|access_token"
        r"|id_token|refresh_token|auth|api_?key|password|secret|client_secret)=)([^&\s\"'<>\\)]{6,})",
    ),
)  # fmt: skip

_VALUE = r"""(?:\\*"([^"\\\n]+)|\\*'([^'\\\n]+)|([^\s"'\\,;&)\]}>]+))"""
_SECRET_NAMES = (
    r"(?:password|passwd|passphrase|sshpass|(?:db|user|sql|admin)_?pwd|secret|api[_-]?key|access[_-]?key|secret[_-]?key|private[_-]?key|account[_-]?key"
    r"|key[_-]data|encryption[_-]?key|signing[_-]?key|access[_-]?key[_-]?secret)"
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
    _Shape("password", rf"""(?:--pass(?:\\*["'],\s*|\s+|=)|\bsshpass\s+-p\s*){_VALUE}""", groups=3),
    _Shape("password", r"(?i:;\s*pwd)\s*=\s*([^;\s\"']+)"),
    _Shape(
        "password",
        r"""\bcurl\b[^\n]*?(?:\s|["'])(?:-u|--user)(?:=|\s+|["'],\s*)["']?[A-Za-z_][\w.@-]*:([^\s"',]+)""",
    ),
    _Shape(
        "env",
        rf"""(?i:\bname){_IS}[\w.-]*{_NAMED}\\*["']?(?:[,\s]|\\+n)+["'\\]*(?i:value)\\*["']?\s*[:=]\s*{_VALUE}""",
        groups=3,
    ),
    _Shape("argument", rf"""--?[\w.-]*{_NAMED}(?:\\*["'],\s*|\s+|=){_VALUE}""", groups=3),
    _Shape("secret", rf"""{_NAMED}\\*["']?\s*(?::=|=>|[:=])\s*b?{_VALUE}""", groups=3),
    _Shape("token", r"""--token(?:["'],\s*|\s+|=)["']?([0-9A-Za-z._~+/-]{8,}=*)"""),
    _Shape("token", rf"""(?i:\btoken){_IS}([0-9A-Za-z._~+/-]{{20,}}=*)"""),
)  # fmt: skip

# A log holds a key one line at a time. Whole runs are looked for, after all else, since they would hide what they hold.
_KEY_LINES = (_Shape("key-line", r"([0-9A-Za-z+/=_-]{64,})"),)

_BY_NAME_KINDS = frozenset(shape.kind for shape in _BY_NAME)
_RANDOM_ONLY = frozenset({"bearer", "token"})

# What stands where a secret could stand and is none: a placeholder, a reference, a type, a word of an error message.
_HARMLESS = expression(
    r"(?i:true|false|none|null|nil|undefined|n/a|str|string|bytes|int|bool|optional\b.*|key|value|password|token|secret|your.*)"
    r"|(?i:required|missing|invalid|incorrect|not|is|was|must|empty|unset|wrong|expired|failed|denied|granted|enabled|disabled)"
    r"|(?i:authentication|for|and|or|x+|os\.environ.*|getpass.*|.*\(\)?)"
    r"|\*+|\.+|<.*|%.*|\{.*|\[.*|\(.*|&.*|\$[A-Z_][A-Z0-9_]*|\$[{(].*|\d{1,3}|(?=\d*\.)[\d.]+"
    r"|(?:gs|s3|https?)://.*|projects/.*|(?:/[\w.@-]+)+/?"
)
_AWS_SECRET_LENGTH = 40  # such a key may begin with a slash and look like a path
_LONGEST_MARK = 48
_KEY_WIDTHS = frozenset((64, 70))  # of the lines of a PEM and an OpenSSH key, which a log holds one entry a line
_HALF = expression("[\ud800-\udfff]")
_COUNT = expression(r"\{(\d+)(?:,\d*)?\}")
_FEW = 8
_DEEPEST = 3
"""How deep inside of harmless values secrets are looked for: each level may read the text once more."""


class _Pass:
    """One expression of all shapes."""

    def __init__(self, shapes: tuple[_Shape, ...]) -> None:
        options = re2.Options()
        options.max_mem = 128 << 20
        options.log_errors = False
        self._kinds = [shape.kind for shape in shapes for _ in range(shape.groups)]
        self._pattern: Any = re2.compile("|".join(f"(?:{shape.pattern})" for shape in shapes), options)
        assert self._pattern.groups == len(self._kinds)

    def mask(self, text: str, depth: int = _DEEPEST) -> str:
        """The text with what this pass finds replaced by marks, also inside of what is harmless as a whole."""
        parts: list[str] = []
        done = 0
        for found in self._pattern.finditer(text):
            group = next((number for number in range(1, len(self._kinds) + 1) if found.start(number) >= 0), 0)
            if not group or _is_masked(text, found.start(group), found.end(group)):
                continue
            secret, kind = found.group(group), self._kinds[group - 1]
            if _is_harmless(secret, kind):
                told = self.mask(secret, depth - 1) if depth else secret
            else:
                told = _mark(kind, secret)
            parts += [text[done : found.start(group)], told]
            done = found.end(group)
        return "".join([*parts, text[done:]]) if parts else text


def _options() -> Any:
    options = re2.Options()
    options.max_mem = 128 << 20
    options.log_errors = False
    return options


def redact(text: str) -> str:
    """The text with secrets masked; everything else stays as it is. Masking twice changes nothing more.

    Half of a surrogate pair, which no file of text can hold, becomes U+FFFD.
    """
    try:
        if not _suspicion().Match(text):
            return text
        by_shape, by_name, key_lines = _passes()
        return key_lines.mask(by_name.mask(by_shape.mask(text)))
    except UnicodeEncodeError:
        return redact(whole(text))


def redact_all(value: _Value) -> _Value:
    """The same value of lists, dicts and structs with secrets masked in every text but names that are looked up."""
    return _walked(value)  # type: ignore[no-any-return]


def _walked(value: Any) -> Any:
    """The value itself where nothing in it is masked: nearly always, and building it anew costs more than looking."""
    if value is None or isinstance(value, int | float):
        return value
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, list):
        items = [_walked(item) for item in value]
        return items if any(new is not old for new, old in zip(items, value, strict=True)) else value
    if isinstance(value, dict):
        masked = {_walked(key): _walked(item) for key, item in value.items()}
        both = zip(masked.items(), value.items(), strict=False)
        same = len(masked) == len(value) and all(key is name and new is old for (key, new), (name, old) in both)
        return value if same else masked
    if isinstance(value, msgspec.Struct):
        changes = {}
        for name in value.__struct_fields__:
            old = getattr(value, name)
            if name not in _NAMES and (new := _walked(old)) is not old:
                changes[name] = new
        return msgspec.structs.replace(value, **changes) if changes else value
    return value


def whole(text: str) -> str:
    """The text with each half of a surrogate pair replaced by U+FFFD."""
    return _HALF.sub("\ufffd", text)


def _is_harmless(secret: str, kind: str) -> bool:
    if kind == "key-line":
        return not _is_key_line(secret)
    if kind not in _BY_NAME_KINDS:
        return False
    if kind in _RANDOM_ONLY and not (any(sign.isdigit() for sign in secret) and any(sign.isalpha() for sign in secret)):
        return True
    return len(secret) != _AWS_SECRET_LENGTH and bool(_HARMLESS.fullmatch(secret))


def _is_key_line(line: str) -> bool:
    """Whether it has what a full line of a key all but surely has, and a digest in hexadecimal or a name has not."""
    if len(line) not in _KEY_WIDTHS or not line.isascii() or not line.replace("+", "").replace("/", "").isalnum():
        return False
    return any(sign.isdigit() for sign in line) and any(sign.islower() for sign in line) and any(map(str.isupper, line))


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
def _suspicion() -> Any:
    """All expressions as a set that only tells whether one may be found: many times faster than looking for groups."""
    found = re2.Set.SearchSet(_options())
    for shape in (*_OWN_SHAPES, *_BY_NAME):
        found.Add(_COUNT.sub(_at_least, shape.pattern))
    for shape in _KEY_LINES:
        found.Add(shape.pattern)
    found.Compile()
    return found


def _at_least(count: re.Match[str]) -> str:
    """A count that is met wherever the given one is; RE2 writes out each repetition, which takes its time."""
    return f"{{{min(int(count[1]), _FEW)},}}"


@lru_cache(maxsize=1)
def _passes() -> tuple[_Pass, _Pass, _Pass]:
    return _Pass(_OWN_SHAPES), _Pass(_BY_NAME), _Pass(_KEY_LINES)
