"""Planted secrets of many kinds, as the providers make them, and the places in a log where they stand.

They are put together at run time, so that no scanner takes this file for a leak.
"""

from __future__ import annotations

import json

_WORD = "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7cF0hL" * 8
_HEX = "7f3a9c05e1b84d26" * 8
_DIGITS = "4815162342" * 4
_PEM = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj"

SHAPED = {
    "google api key": "AIza" + _WORD[:35],
    "google access token": "ya29." + _WORD[:60],
    "google refresh token": "1//0" + _WORD[:40],
    "google client secret": "GOCSPX-" + _WORD[:28],
    "firebase server key": "AAAA" + _WORD[:7] + ":APA91b" + _WORD[:134],
    "aws access key": "AKIA" + "Q2W3E4R5T6Y7U8I9",
    "aws temporary key": "ASIA" + "Q2W3E4R5T6Y7U8I9",
    "azure client secret": "abc8Q~" + _WORD[:34],
    "github token": "ghp_" + _WORD[:36],
    "github fine-grained token": "github_pat_" + _WORD[:82],
    "gitlab token": "glpat-" + _WORD[:20],
    "slack token": "xoxb-" + _DIGITS[:12] + "-" + _WORD[:24],
    "openai project key": "sk-proj-" + _WORD[:48],
    "openai old key": "sk-" + _WORD[:48],
    "anthropic key": "sk-ant-api03-" + _WORD[:90],
    "openrouter key": "sk-or-v1-" + _HEX[:64],
    "langfuse key": "sk-lf-" + "1f6b2c3d-8a9e-4f01-b2c3-d4e5f6a7b8c9",
    "hugging face token": "hf_" + _WORD[:34],
    "nvidia key": "nvapi-" + _WORD[:64],
    "groq key": "gsk_" + _WORD[:52],
    "replicate token": "r8_" + _WORD[:37],
    "xai key": "xai-" + _WORD[:80],
    "perplexity key": "pplx-" + _WORD[:48],
    "pinecone key": "pcsk_" + _WORD[:60],
    "wandb key": "wandb_v1_" + _WORD[:40],
    "databricks token": "dapi" + _HEX[:32],
    "docker token": "dckr_pat_" + _WORD[:27],
    "npm token": "npm_" + _WORD[:36],
    "pypi token": "pypi-AgE" + _WORD[:80],
    "json web token": f"eyJ{_WORD[:20]}.eyJ{_WORD[:40]}.{_WORD[:43]}",
    "sendgrid key": f"SG.{_WORD[:22]}.{_WORD[:43]}",
    "stripe key": "sk_live_" + _WORD[:24],
    "vault token": "hvs." + _WORD[:30],
    "telegram token": _DIGITS[:9] + ":AA" + _WORD[:33],
    "digitalocean token": "dop_v1_" + _HEX[:64],
    "grafana token": "glsa_" + _WORD[:32] + "_" + _HEX[:8],
    "tailscale key": "tskey-auth-" + _WORD[:12] + "-" + _WORD[:28],
    "linear key": "lin_api_" + _WORD[:40],
    "notion token": "ntn_" + _DIGITS[:11] + _WORD[:35],
    "atlassian token": "ATATT3xFfGF0" + _WORD[:60],
    "age key": "AGE-SECRET-KEY-1" + "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L" + "QPZRY9X8GF2TVDW0S3JN54KHCE",
    "new relic key": "NRAK-" + "Q2W3E4R5T6Y7U8I9O0PLKJHGFDS",
    "bcrypt hash": "$2b$12$" + _WORD[:53],
    "crypt hash": "$6$" + _WORD[:8] + "$" + _WORD[:86],
}
"""Secrets that are known by their own shape, wherever they stand."""

NAMED = {
    "aws secret key": "/JalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY12",
    "password": "hunter22",
    "wandb hex": _HEX[:40],
    "uuid": "1f6b2c3d-8a9e-4f01-b2c3-d4e5f6a7b8c9",
}
"""Secrets without a shape: only a name before them tells."""

NAMES = {
    "environment": ("AWS_SECRET_ACCESS_KEY", "DB_PASSWORD", "WANDB_API_KEY", "COMET_API_KEY", "MLFLOW_TRACKING_PASSWORD",
                    "MYSQL_PWD", "CLEARML_API_SECRET_KEY", "AZURE_CLIENT_SECRET", "PGPASSWORD", "SSHPASS", "NEPTUNE_API_TOKEN"),
    "argument": ("--wandb-api-key", "--db-password", "--hf_token", "--client-secret", "--pass"),
    "field": ("password", "client_secret", "apiKey", "secretAccessKey", "access_token", "private_key", "client-key-data",
              "refreshToken"),
}  # fmt: skip

WHOLE = {
    "url password": ("postgres://bob:{}@db.internal:5432/runs", "p4ss-w0rd"),
    "url without user": ("redis://:{}@cache.internal:6379/0", "p4ssw0rd"),
    "signed url": ("GET https://storage.googleapis.com/b/o?X-Goog-Expires=900&X-Goog-Signature={}&x=1", _HEX),
    "shared access": ("https://a.blob.core.windows.net/c?sv=2022&sig={}&se=1", "abc%2Fdef%3D123456789012345"),
    "jdbc": ("jdbc:postgresql://h/db?user=bob&password={}&ssl=true", "hunter22"),
    "odbc": ("Driver={{ODBC Driver 18}};Server=h;UID=bob;PWD={};Encrypt=yes", "hunter22"),
    "bearer": ("Authorization: Bearer {}", _WORD[:40]),
    "basic": ("> Authorization: Basic {}", "dXNlcjpwYXNzd29yZA=="),
    "signature": ("Authorization: AWS4-HMAC-SHA256 Credential=x/20260101/us/s3/aws4_request, Signature={}", _HEX[:64]),
    "cookie": ("Set-Cookie: {}; Path=/", "session=abc123def456"),
    "slack hook": ("POST https://hooks.slack.com/services/{}", "T00000000/B00000000/" + _WORD[:24]),
    "docker config": ('{{"auths": {{"gcr.io": {{"auth": "{}"}}}}}}', "dXNlcjpwYXNzd29yZA=="),
    "sshpass": ("sshpass -p {} ssh node-1", "hunter22"),
    "netrc": ("machine api.wandb.ai login user password {}", _HEX[:40]),
    "azure key": ("AccountName=a;AccountKey={};EndpointSuffix=x", _WORD[:86] + "=="),
    "private key": ("-----BEGIN RSA PRIVATE KEY-----{}-----END RSA PRIVATE KEY-----", f"\n{_PEM}\n{_PEM[:40]}==\n"),
    "key on its line": ("{}", _PEM),
    "service account": (
        '"private_key": "-----BEGIN PRIVATE KEY-----{}-----END PRIVATE KEY-----\\n"',
        f"\\n{_PEM}\\n{_PEM}\\n",
    ),
}
"""Secrets that are known by what stands around them."""


def planted() -> dict[str, tuple[str, str]]:
    """By kind and place: a text that holds a secret, and the secret."""
    found = {f"{kind}, bare": (f"using {secret} at step 3", secret) for kind, secret in SHAPED.items()}
    found |= {f"{kind}, in a traceback": (f"ValueError: bad key {secret!r}", secret) for kind, secret in SHAPED.items()}
    found |= {
        f"{kind}, in an argument list": (f"['--key', '{secret}', '--lr']", secret) for kind, secret in SHAPED.items()
    }
    found |= {f"{kind}, in JSON": (json.dumps({"a": 1, "v": secret}), secret) for kind, secret in SHAPED.items()}
    found |= {f"{kind}, in a URL": (f"GET https://x.y/p/{secret}?a=1", secret) for kind, secret in SHAPED.items()}
    for kind, secret in NAMED.items():
        for name in NAMES["environment"]:
            found[f"{kind}, {name}"] = (f"{name}={secret}", secret)
            found[f"{kind}, {name} exported"] = (f"export {name}='{secret}'", secret)
            found[f"{kind}, {name} in a dump"] = (f"environ({{'HOME': '/root', '{name}': '{secret}'}})", secret)
            found[f"{kind}, {name} of a pod"] = (f"- name: {name}\n  value: {secret}", secret)
        for name in NAMES["argument"]:
            found[f"{kind}, {name}"] = (f"python t.py {name} {secret} --lr 1", secret)
            found[f"{kind}, {name} listed"] = (f"['t.py', '{name}', '{secret}', '--lr']", secret)
            found[f"{kind}, {name} joined"] = (f"python t.py {name}={secret} --lr 1", secret)
        for name in NAMES["field"]:
            found[f"{kind}, {name} in JSON"] = (json.dumps({name: secret, "b": 2}), secret)
            found[f"{kind}, {name} in JSON in JSON"] = (json.dumps(json.dumps({name: secret})), secret)
            found[f"{kind}, {name} in YAML"] = (f"{name}: {secret}\nb: 2", secret)
            found[f"{kind}, {name} in Python"] = (f"Config({name}='{secret}', b=2)", secret)
    found |= {kind: (text.format(secret), secret) for kind, (text, secret) in WHOLE.items()}
    return found
