"""Checks of JSON and of arguments."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linkzoo.core.arguments import agrees, boolean, check_keys, integer, sequence, string

anything = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-50, 50),
    st.floats(),
    st.text(max_size=3),
    st.lists(st.integers(), max_size=3),
    st.dictionaries(st.text(max_size=2), st.integers(), max_size=2),
)


@pytest.mark.slow
@settings(max_examples=50)
@given(anything)
def test_integer(value: Any) -> None:
    if type(value) is int and -5 <= value <= 9:
        assert integer("n", value, -5, 9) == value
    else:
        with pytest.raises(ValueError, match=r"^n: .* is not .*in -5\.\.9$"):
            integer("n", value, -5, 9)


def test_numpy_integers() -> None:
    for value in (np.int8(3), np.uint64(3), np.int64(3)):
        assert type(integer("n", value, 0, 9)) is int
    assert integer("n", np.uint64(2**64 - 1), 0, 2**64 - 1) == 2**64 - 1
    for other in (np.bool_(True), np.float32(3), np.array([3])):
        with pytest.raises(ValueError, match=r"^n: .* is not an integer in 0\.\.9$"):
            integer("n", other, 0, 9)


@pytest.mark.slow
@settings(max_examples=50)
@given(anything)
def test_boolean(value: Any) -> None:
    if isinstance(value, bool):
        assert boolean("b", value) is value
    else:
        with pytest.raises(ValueError, match=r"(?s)^b: .* is not true or false$"):
            boolean("b", value)


@pytest.mark.slow
@settings(max_examples=50)
@given(anything)
def test_string(value: Any) -> None:
    if isinstance(value, str):
        assert string("s", value) == value
    else:
        with pytest.raises(ValueError, match=r"^s: .* is not a string$"):
            string("s", value)


@settings(max_examples=50)
@given(anything)
def test_sequence(value: Any) -> None:
    if isinstance(value, list) and 1 <= len(value) <= 2:
        items = sequence("l", value, 1, 2)
        assert items == value
        assert items is not value
    else:
        with pytest.raises(ValueError, match=r"(?s)^l: .* is not a list of 1\.\.2 items$"):
            sequence("l", value, 1, 2)


@pytest.mark.slow
@settings(max_examples=50)
@given(anything, anything)
def test_agrees(value: Any, expected: Any) -> None:
    same = value == expected and isinstance(value, bool) == isinstance(expected, bool)
    if same:
        agrees("f", value, expected)
    else:
        with pytest.raises(ValueError, match=r"(?s)^f: .*, but the rest of the position says "):
            agrees("f", value, expected)


def test_check_keys() -> None:
    check_keys("p", {"a": 1, "b": 2}, ["a"], ["b", "c"])
    with pytest.raises(ValueError, match=r"^p: missing fields \['b'\], unknown fields \['x'\]$"):
        check_keys("p", {"a": 1, "x": 2}, ["a", "b"])
    for value in (None, 3, "ab", ["a"]):
        with pytest.raises(ValueError, match=r"^p: .* is not a JSON object$"):
            check_keys("p", value, ["a"])


@pytest.mark.parametrize(
    "value",
    [10**5000, [10**5000], [["x" * 99] * 99] * 99, {"a": [[["b"] * 99] * 99] * 99}],
    ids=["digits", "digits inside", "wide", "deep"],
)
def test_errors_are_short(value: Any) -> None:
    """Whatever the value is, the message is short."""
    with pytest.raises(ValueError, match=r"^n: .* is not an integer in|^n: a number of") as raised:
        integer("n", value, 0, 9)
    assert len(str(raised.value)) < 500
    with pytest.raises(ValueError, match=r"^n: missing fields") as raised:
        check_keys("n", dict.fromkeys(map(str, range(999))), ["a"])
    assert len(str(raised.value)) < 500
