"""Checks of exceptions by their type and by the values in their messages, as in tests/script.py."""

import contextlib
import pathlib
import sys

import pytest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
import script  # noqa: E402


@contextlib.contextmanager
def raises(error, *values):
    """pytest.raises(), and the message has the values as whole words or numbers, in this order."""
    with pytest.raises(error) as caught:
        yield caught
    assert script.names(str(caught.value), *values), f"not all of {values}, in this order, are in: {caught.value}"


def refused(error, values, call, *arguments, **options):
    with raises(error, *values):
        call(*arguments, **options)
