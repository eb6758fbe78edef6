"""What stands in the place of a secret."""

import subprocess
import sys

import pytest

from ipdp.core.redaction import redacted, redacted_url, short_paths, without_secrets


def test_a_secret_becomes_a_short_hash():
    assert redacted("hunter2") == "redacted-f52fbd"


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        (
            "https://me:word@hooks.example.com:8443/T000/B000?key=1",
            "https://hooks.example.com:8443/redacted-f42b1f",
        ),
        ("no address", redacted("no address")),
        ("https://[broken", redacted("https://[broken")),
    ],
)
def test_an_address_keeps_its_scheme_and_host(url, shown):
    assert redacted_url(url) == shown


def test_what_is_redacted_stays_so():
    shown = redacted_url("https://hooks.example.com/T000/B000")
    assert redacted_url(shown) == shown
    settings = without_secrets({"webhook": shown, "data": "kafka://me:word@h:1/t?sasl.password=x"})
    assert settings["webhook"] == shown
    assert without_secrets(settings) == settings


@pytest.mark.parametrize(
    ("settings", "shown"),
    [
        ({"data": "loans.csv"}, {"data": "loans.csv"}),
        ({"data": "kafka://h:1/t#word"}, {"data": "kafka://h:1/t"}),
        ({"a": ["s3://me:word@h/b"]}, {"a": [f"s3://{redacted('me:word')}@h/b"]}),
        ({"a": "asked https://h/x?t=word"}, {"a": f"asked https://h/x?t={redacted('word')}"}),
        ({"webhook": None, "n": 3}, {"webhook": None, "n": 3}),
    ],
)
def test_settings_lose_their_secrets_wherever_these_are(settings, shown):
    assert without_secrets(settings) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("/home/jane/data/loans.csv", "…/loans.csv"),
        (r"C:\Users\jane\loans.csv", "…/loans.csv"),
        ("no column 'a' in '/home/jane/loans.csv'", "no column 'a' in '…/loans.csv'"),
        ("loans/march.csv", "loans/march.csv"),
        ("kafka://h:9092/a/topic", "kafka://h:9092/a/topic"),
        ("1/2 of a/b", "1/2 of a/b"),
        ({"data": ["/a/b/c"]}, {"data": ["…/c"]}),
    ],
)
def test_paths_are_shortened_to_their_last_name(text, shown):
    assert short_paths(text) == shown
    assert short_paths(shown) == shown


LONG = """
import resource
from ipdp.core.redaction import short_paths, without_secrets
resource.setrlimit(resource.RLIMIT_CPU, (60, 60))  # by the square of its length it is an hour
for letters in ("x", "x.", "/x", "://", "x:/"):
    text = letters * 1_000_000
    short_paths(text)
    assert "secret" not in without_secrets(text + " https://h.example/?key=secret")
assert "secret" not in without_secrets("x" * 1_000_000 + "http://h.example/?key=secret")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there are no limits of the processor's time")
def test_a_text_of_a_million_letters_is_read_once():
    subprocess.run([sys.executable, "-c", LONG], check=True)
