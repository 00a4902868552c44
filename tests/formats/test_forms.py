"""Every form is read as its fixture's `.entries` file says, part by part."""

from __future__ import annotations

import pytest
from forms import INPUTS, TABLES, all_forms, expected, read, written


@pytest.mark.parametrize("path", all_forms())
def test_form_is_read_as_written_down(path):
    """The entries of each fixture are those of its `.entries` file (see forms.py to write them anew)."""
    assert "".join(written(entry) + "\n" for entry in read(path)) == expected(path)


def test_every_form_has_a_fixture():
    """No input stands without its expectation, none is empty."""
    assert [path.name for path in INPUTS + TABLES if not expected(path).strip()] == []
