"""What stands in the place of a secret."""

import pytest

from ipdp.core.redaction import redacted, redacted_url


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
