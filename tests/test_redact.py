"""Secrets are masked wherever they stand, and nothing else is."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.redact import _COUNT, _at_least, redact

# Planted secrets are put together here, so that no scanner takes this file for a leak.
_HEX = "0123456789abcdef"
_WORD = "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7" * 4
_PEM = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj"


def _planted() -> dict[str, tuple[str, str]]:
    """Kind of text → (the text with `§` where the secret stands, the secret)."""
    own = {
        "gcp-key": "AIza" + _WORD[:35],
        "gcp-token": "ya29." + _WORD[:60],
        "gcp-secret": "GOCSPX-" + _WORD[:28],
        "aws-key": "AKIA" + "Q2W3E4R5T6Y7U8I9",
        "github-token": "ghp_" + _WORD[:36],
        "github-fine": "github_pat_" + _WORD[:60],
        "gitlab-token": "glpat-" + _WORD[:20],
        "slack-token": "xoxb-" + "123456789012-" + _WORD[:24],
        "openai-key": "sk-proj-" + _WORD[:48],
        "openai-old": "sk-" + _WORD[:48],
        "anthropic-key": "sk-ant-api03-" + _WORD[:60],
        "hf-token": "hf_" + _WORD[:34],
        "nvidia-key": "nvapi-" + _WORD[:64],
        "databricks": "dapi" + _HEX * 2,
        "npm": "npm_" + _WORD[:36],
        "jwt": f"eyJ{_WORD[:20]}.eyJ{_WORD[:40]}.{_WORD[:43]}",
        "sendgrid": f"SG.{_WORD[:22]}.{_WORD[:43]}",
        "stripe": "sk_live_" + _WORD[:24],
        "vault": "hvs." + _WORD[:30],
    }
    named = {name: (f"E 12:00 using {{}} at step 3 ({name})".format("§"), secret) for name, secret in own.items()}
    return named | {
        "env": ("WANDB_API_KEY=§ python train.py", _HEX[:8] * 5),
        "env list": ('{"name": "DB_PASSWORD", "value": "§"}, {"name": "STEPS", "value": "100"}', "hunter2"),
        "env yaml": ("- name: HF_TOKEN\n  value: §\n- name: STEPS\n  value: '100'", "abcdefg1"),
        "argument": ("args: ['--epochs', '3', '--db-password', '§', '--lr', '0.1']", "hunter2"),
        "argument with blank": ("Running command: python3 -m t --api-key § --steps 10", "k3y-of-ours"),
        "argument with sign": ("--wandb_token=§ --steps 10", "abc123abc"),
        "token argument": ("huggingface-cli login --token § --add", "abcd1234efgh"),
        "json": ('{"user": "bob", "client_secret": "§"}', "s3cr3t value"),
        "json in json": ('{\\"password\\": \\"§\\", \\"a\\": 1}', "hunter2"),
        "dict": ("{'secret_key': b'§', 'size': 3}", "0xfeed"),
        "url": ("could not connect to postgres://bob:§@db.internal:5432/runs", "p4ss-w0rd"),
        "pip url": ("Looking in indexes: https://user:§@pypi.internal/simple", "abcDEF123"),
        "signed url": ("GET https://storage.googleapis.com/b/o?X-Goog-Expires=900&X-Goog-Signature=§&x=1", _HEX * 4),
        "aws signed": ("https://b.s3.amazonaws.com/k?X-Amz-Date=1&X-Amz-Signature=§", _HEX * 4),
        "sas": ("https://a.blob.core.windows.net/c?sv=2022&sig=§&se=1", "abc%2Fdef%3D123456789012345"),
        "bearer": ("Authorization: Bearer §", _WORD[:40]),
        "basic": ("'Proxy-Authorization': 'Basic §'", "dXNlcjpwYXNzd29yZA=="),
        "lone bearer": ("curl -H bearer § https://x", _WORD[:30]),
        "header": ('"x-api-key": "§"', "abc-123-def"),
        "cookie": ("Set-Cookie: §", "session=abc123; Path=/; HttpOnly"),
        "netrc": ("machine api.wandb.ai login user password §", _HEX[:10] * 4),
        "curl user": ("curl -u bob:§ https://x", "hunter2"),
        "wandb login": ("+ wandb login --relogin §", _HEX[:8] * 5),
        "aws secret": ("aws_secret_access_key = §", "/JalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY12"),
        "azure": ("DefaultEndpointsProtocol=https;AccountName=a;AccountKey=§;EndpointSuffix=x", _WORD[:80] + "=="),
        "kaggle": ('{"username":"bob","key":"§"}', _HEX * 2),
        "slack hook": ("POST https://hooks.slack.com/services/§", "T00000000/B00000000/" + _WORD[:24]),
        "private key": ("-----BEGIN RSA PRIVATE KEY-----§-----END RSA PRIVATE KEY-----", f"\n{_PEM}\n{_PEM[:40]}==\n"),
        "service account": (
            '"private_key": "-----BEGIN PRIVATE KEY-----§-----END PRIVATE KEY-----\\n"',
            f"\\n{_PEM}\\n{_PEM}\\n",
        ),
        "cut-off key": ("-----BEGIN OPENSSH PRIVATE KEY-----§", f"\n{_PEM}\n{_PEM[:30]}"),
        "after umlauts": ("Schlüssel für ümläut: password=§ – Ende", "geheim1"),
    }


@pytest.mark.parametrize("name", _planted())
def test_a_planted_secret_is_masked_and_only_it(name: str) -> None:
    """The text around the secret stays letter by letter."""
    template, secret = _planted()[name]
    before, _, after = template.partition("§")
    masked = redact(template.replace("§", secret))
    assert secret not in masked
    assert re.fullmatch(
        rf"{re.escape(before)}\[masked:[a-z-]+:[0-9a-f]{{4}}\].{{0,4}}{re.escape(after)}", masked, re.DOTALL
    ), masked


@pytest.mark.parametrize(
    "text",
    [
        "pad_token: <pad>, eos_token='</s>', unk_token=[UNK]",
        "num_tokens=4096 tokens/s: 1234.5 max_new_tokens=512 token: 151643",
        "bos_token_id=1 token_type_ids=tensor([0, 0])",
        "tokenizer=AutoTokenizer.from_pretrained('x')",
        "KeyError: 'token'",
        "use_auth_token=True hf_token=None HF_TOKEN=${HF_TOKEN} --hf_token $HF_TOKEN",
        "commit " + _HEX[:8] * 5,
        f"sha256:{_HEX * 4}",
        "uuid 123e4567-e89b-12d3-a456-426614174000 insertId=1x2y3z4a5b6c7",
        "data:image/png;base64,iVBORw0KGgo" + "A" * 400,
        "password authentication failed for user bob",
        "Error: invalid password",
        "password: str = None, secret: Optional[str] = None",
        "Secret: projects/p/secrets/s/versions/1",
        "secretName: wandb-api-key",
        'MountVolume.SetUp failed: secret "hf-token" not found',
        "api_key = os.environ['API_KEY']",
        "access_key: 3",
        "monkey=banana keyboard: qwerty",
        "cookie is expired",
        "http://10.0.0.1:8080/x@y grpc://10.0.0.2:8470,grpc://10.0.0.3:8470",
        "docker run -u 1000:1000 img; python3 -u train.py:main",
        "tensor([[0.1234, 0.5678]]) task-" + "a" * 40,
        "sk-learn-contrib imbalanced",
        "https://example.com/page?token=&x=1",
        "GET /o?alt=media&prefix=a/b",
        "Bearer authentication is required by the registry",
        "privateKeyPath=/etc/ssl/private/key.pem",
        "PASSWORD_FILE=/run/secrets/db",
        "hidden_size=4096 head_dim=128 kv_heads=8",
        "-----BEGIN CERTIFICATE-----\nMIIC\n-----END CERTIFICATE-----",
        "ssh-rsa AAAAB3NzaC1yc2E user@host",
    ],
)
def test_what_only_looks_like_a_secret_stays(text: str) -> None:
    """Evidence must be findable in the input, so a mask needs a reason."""
    assert redact(text) == text


def test_a_mark_is_stable_and_tells_secrets_apart() -> None:
    """The same secret has the same mark everywhere, another one has another."""
    one, same, other = redact("password=alpha1"), redact("x password=alpha1 y"), redact("password=beta22")
    assert one.split("=")[1] in same
    assert one != other


@given(st.text(max_size=200))
def test_masking_twice_is_masking_once(text: str) -> None:
    """Marks hold nothing that would be masked again."""
    assert redact(redact(text)) == redact(text)


@given(st.sampled_from(sorted(_planted())), st.sampled_from(sorted(_planted())))
def test_secrets_side_by_side_are_all_masked(first: str, second: str) -> None:
    """One secret does not hide another, and masking again changes nothing."""
    (one, secret), (two, other) = _planted()[first], _planted()[second]
    masked = redact(one.replace("§", secret) + "\n" + two.replace("§", other))
    assert secret not in masked
    assert other not in masked
    assert redact(masked) == masked


@given(st.text(alphabet="abc ABC.,()[]0123\n", max_size=300))
def test_plain_words_and_figures_are_never_touched(text: str) -> None:
    """No name, no shape: no mask."""
    assert redact(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "eyJ" * 300_000,
        "password=" * 100_000,
        "a://" * 250_000,
        "-----BEGIN PRIVATE KEY-----" * 40_000,
        "name: x_password " * 60_000,
        "ü" * 500_000 + " password=abc1" * 20_000,
        "--" * 500_000,
        '\\"' * 500_000,
        "cookie:" * 150_000,
    ],
)
def test_a_hostile_megabyte_is_passed_in_linear_time(text: str) -> None:
    """The expressions cannot be made to backtrack; a quadratic pass would not come back within the suite."""
    assert len(redact(text)) > 0


def test_half_of_a_surrogate_pair_hides_no_secret() -> None:
    """JSON can carry one; the expressions cannot."""
    masked = redact("half \ud83d of a pair, password=hunter22")
    assert "hunter22" not in masked
    assert masked.startswith("half \ufffd of a pair")


@pytest.mark.parametrize("count", ["{3}", "{8}", "{40,}", "{0,300}", "{6,9}"])
def test_a_quick_count_is_met_wherever_the_thorough_one_is(count: str) -> None:
    """A count that is lowered in order to be quick hides no secret."""
    thorough, quick = re.compile(f"a{count}"), re.compile(f"a{_COUNT.sub(_at_least, count)}")
    assert all(quick.fullmatch("a" * times) for times in range(400) if thorough.fullmatch("a" * times))
