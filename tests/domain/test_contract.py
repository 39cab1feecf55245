"""What every domain promises: a row has its own code, no value raises, and tables give the domain back."""

from __future__ import annotations

import copy
import math
import pickle
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from flou.domain import Boolean, Categories, Domain, Integers, Interval, domain_from_dict
from flou.errors import InvalidData

BIG = 2**53 + 1

DOMAINS = {
    "interval": Interval(-5, 5, step=0.1, missing=1),
    "decimal interval": Interval(0, 0.3, step=0.1),  # 0.3 / 3 is not 0.1
    "fine interval": Interval(0, 2**60, cells=2**52),
    "integers": Integers(-5, 5),
    "big integers": Integers(2**53, 2**53 + 10, missing=2**53 + 7),
    "texts": Categories(["a", "x", "bb"]),
    "numbers": Categories([1, 0, BIG, -(2**62)], other=False, missing=0),
    "mixed": Categories(["a", 1, True, "1", ""], other_label="rest"),
    "boolean": Boolean(missing=True),
}

# Rows that no domain finds difficult, and that NumPy would push around if it saw a stranger among them.
ROWS = {
    "integers": [0, 1, BIG, -3, 2**53 + 2, 5],
    "floats": [0.0, 1.0, -2.5, 4.9, 1e9, 5.0],
    "texts": ["a", "x", "1", "", "bb", "zz"],
    "booleans": [True, False, True, True, False, False],
    "mixture": [1, "a", None, True, 2.5, BIG],
}


class Hostile:
    """An object that raises whatever is done to it."""

    def _raise(self, *_):
        raise RuntimeError("secret")

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __float__ = __int__ = __index__ = __bool__ = _raise
    __str__ = __repr__ = __hash__ = __len__ = __iter__ = __array__ = __getattr__ = __floor__ = _raise


class NotAvailable:
    """Like the missing value of pandas: comparisons give itself, and it has no truth value."""

    def __eq__(self, _):
        return self

    __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __eq__
    __hash__ = object.__hash__

    def __bool__(self):
        raise TypeError("boolean value of NA is ambiguous")

    def __float__(self):
        raise TypeError("NA")


class LyingFloat(float):
    """A float whose comparisons raise."""

    def _raise(self, *_):
        raise RuntimeError("secret")

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __float__ = __hash__ = _raise


POISONS = {
    "nan": math.nan,
    "numpy nan": np.float64("nan"),
    "float32 nan": np.float32("nan"),
    "inf": math.inf,
    "-inf": -math.inf,
    "None": None,
    "text": "x",
    "numeric text": "3",
    "long text": "x" * 10_000,
    "text with NUL": "a\0",
    "half a character": "\ud800",
    "bytes": b"\xff\xfe",
    "10**400": 10**400,
    "-10**5000": -(10**5000),
    "2**63": 2**63,
    "2**64": 2**64,
    "large float": 1.7e308,
    "small float": 5e-324,
    "object": object(),
    "list": [1, 2],
    "empty list": [],
    "tuple": (1, 2),
    "array": np.arange(3),
    "zero-dimensional array": np.array(1.0),
    "dict": {},
    "True": True,
    "numpy False": np.False_,
    "complex": 1j,
    "numpy complex": np.complex64(1),
    "decimal": Decimal("1e999999999"),
    "signalling nan": Decimal("sNaN"),
    "fraction": Fraction(10**400, 3),
    "long double": np.longdouble("1e4000"),
    "date": np.datetime64("2020-01-01"),
    "not a time": np.datetime64("NaT"),
    "duration": np.timedelta64(1, "s"),
    "masked": np.ma.masked,
    "void": np.void(b"\0"),
    "class": float,
    "hostile": Hostile(),
    "hostile float": LyingFloat(1.0),
    "not available": NotAvailable(),
}


def as_list(rows):
    return list(rows)


def as_objects(rows):
    return np.fromiter(rows, dtype=object, count=len(rows))


def as_masked_objects(rows):
    return np.ma.MaskedArray(as_objects(rows), mask=np.zeros(len(rows), dtype=bool))


each_domain = pytest.mark.parametrize("domain", DOMAINS.values(), ids=DOMAINS)
each_rows = pytest.mark.parametrize("rows", ROWS.values(), ids=ROWS)


@each_domain
@each_rows
@pytest.mark.parametrize("container", [as_list, tuple, as_objects, as_masked_objects])
def test_a_poisoned_row_stays_alone(domain, rows, container):
    """Whatever one row holds, every other row keeps its code, and type and shape stay."""
    alone = [int(domain.encode([row])[0]) for row in rows]
    assert domain.encode(container(rows)).tolist() == alone
    for name, poison in POISONS.items():
        for place in (0, 3, len(rows)):
            codes = domain.encode(container([*rows[:place], poison, *rows[place:]]))
            assert codes.dtype == np.int64, name
            assert codes.shape == (len(rows) + 1,), name
            assert np.delete(codes, place).tolist() == alone, name
            assert 0 <= codes[place] < domain.size, name
            assert codes[place] == domain.encode([poison])[0], name


@each_domain
def test_lost_rows(domain):
    """NULL, NaN and strangers have the missing code, and infinities do not raise."""
    for name in ["nan", "None", "object", "list", "array", "hostile", "not available", "masked", "date", "duration"]:
        assert domain.encode([POISONS[name]]).tolist() == [domain.missing_code], name


@each_domain
@pytest.mark.parametrize("poison", [math.nan, math.inf, -math.inf, 1.7e308, -1.7e308, 5e-324, -0.0, 2.0**63, 0.5])
def test_a_poisoned_row_of_an_array_stays_alone(domain, poison):
    """In an array of floats, too, every other row keeps its code."""
    rows = np.array([0.0, 1.0, -2.5, 4.9, 2.0**53, 5.0])
    clean = domain.encode(rows)
    for place in range(len(rows)):
        poisoned = rows.copy()
        poisoned[place] = poison
        codes = domain.encode(poisoned)
        assert codes.dtype == np.int64
        assert np.delete(codes, place).tolist() == np.delete(clean, place).tolist()
        assert codes[place] == domain.encode([poison])[0]


@each_domain
@pytest.mark.parametrize(
    "rows",
    [
        np.array([0, 1, 5, 2**62, -3]),
        np.array([0, 1, 2**63, 2**64 - 1], dtype=np.uint64),
        np.array([0, 1, 255], dtype=np.uint8),
        np.array([0.0, 1.0, 0.25, np.nan, np.inf], dtype=np.float16),
        np.array([0.1, 1.0, 3e38, np.nan], dtype=np.float32),
        np.array([0.1, 0.6, -0.0, 2.0**53, np.nan]),
        np.array([0.1, 1.0, 2.0**53, np.nan, np.inf], dtype=np.longdouble),
        np.array([True, False]),
        np.array([1j, 0]),
        np.array(["a", "1", ""]),
        np.array([b"a", b"1", b"\xff"]),
        np.array(["a", "1"], dtype=np.dtypes.StringDType()),
        np.array(["2020-01-01", "NaT"], dtype="datetime64[D]"),
        np.array([1, 0], dtype="timedelta64[s]"),
        np.array([(1, 2.0)], dtype=[("a", int), ("b", float)]),
    ],
    ids=lambda rows: str(rows.dtype),
)
def test_typed_arrays_agree_with_lists(domain, rows):
    """An array that has a type, its elements in a list, and its reverse in memory have the same codes."""
    codes = domain.encode(rows)
    assert codes.dtype == np.int64
    assert codes.tolist() == domain.encode(list(rows)).tolist()
    assert codes[::-1].tolist() == domain.encode(rows[::-1]).tolist()
    if rows.dtype.kind in "iuf":
        assert codes.tolist() == domain.encode(rows.astype(rows.dtype.newbyteorder())).tolist()


@each_domain
@pytest.mark.parametrize("data", [np.array([1, 0, 1]), np.array([1.0, 0.0, 1.0]), np.array(["a", "x", "a"])])
def test_masked_rows_are_missing(domain, data):
    """A masked row is missing, and the others are read as if there were no mask."""
    codes = domain.encode(np.ma.MaskedArray(data, mask=[False, True, False]))
    assert codes[1] == domain.missing_code
    assert codes[[0, 2]].tolist() == domain.encode(data)[[0, 2]].tolist()
    assert domain.encode(np.ma.MaskedArray(data)).tolist() == domain.encode(data).tolist()


@each_domain
def test_masked_records(domain):
    """Records are strangers, masked or not."""
    records = np.ma.MaskedArray(np.array([(1, 2.0)] * 2, dtype=[("a", int), ("b", float)]))
    records["a"][0] = np.ma.masked
    assert domain.encode(records).tolist() == [domain.missing_code] * 2


@each_domain
@pytest.mark.parametrize(
    "empty", [[], (), range(0), np.array([]), np.array([], dtype="U3"), np.array([], dtype=object)]
)
def test_no_rows(domain, empty):
    """No rows give no codes."""
    codes = domain.encode(empty)
    assert codes.shape == (0,)
    assert codes.dtype == np.int64
    assert domain.decode(codes).shape == (0,)


@each_domain
@pytest.mark.parametrize(
    ("container", "word"),
    [
        (7.25, "float"),
        ("secret", "str"),
        (b"secret", "bytes"),
        (bytearray(b"secret"), "bytearray"),
        (None, "NoneType"),
        ({"secret": 1}, "dict"),
        ({"secret"}, "set"),
        (iter(["secret"]), "list_iterator"),
        (np.float64(7.25), "0 dimensions"),
        (np.array("secret"), "0 dimensions"),
        (np.array([["secret"]]), "2 dimensions"),
        (np.ma.MaskedArray([[7.25]]), "2 dimensions"),
        (memoryview(b"secret"), "memoryview"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_is_not_a_column(refuses, domain, container, word):
    """A container that is no column is refused by its type or shape, and its content is not shown."""
    message = refuses(lambda: domain.encode(container), "values", word, error=InvalidData)
    assert "secret" not in message
    assert "7.25" not in message


@each_domain
@pytest.mark.parametrize("codes", [[-1], [0.5], ["0"], [None], [True], [2**64], 2**63, [math.nan], [[0], [-1]]])
def test_codes_must_be_codes(refuses, domain, codes):
    """Only codes can be decoded."""
    message = refuses(lambda: domain.decode(codes), "codes", str(domain.size - 1))
    assert "[" not in message
    refuses(lambda: domain.decode([0, domain.size]), "codes")


@each_domain
def test_first_and_last_code(domain):
    """All codes from the first to the last decode, and decoding keeps the shape."""
    last = np.array([[0, domain.size - 1]])
    assert domain.decode(last).shape == (1, 2)
    assert np.shape(domain.decode(domain.size - 1)) == ()


@each_domain
def test_decoding_comes_back(domain):
    """Encoding what a code stands for gives the code, except for "other"."""
    codes = [0, 1, domain.size // 2, domain.size - 1]
    assert domain.encode(domain.decode(codes)).tolist() == codes


@each_domain
def test_it_is_a_domain(domain):
    """Every domain has what the protocol asks for, and its missing code is one of its codes."""
    assert isinstance(domain, Domain)
    assert isinstance(domain.size, int)
    assert isinstance(domain.missing_code, int)
    assert 0 <= domain.missing_code < domain.size
    assert not isinstance(object(), Domain)


@each_domain
def test_table_round_trip(domain):
    """The table of a domain gives an equal domain, also after pickling and copying."""
    back = domain_from_dict(domain.to_dict())
    assert back == domain
    assert back.to_dict() == domain.to_dict()
    assert type(domain).from_dict(domain.to_dict()) == domain
    for again in (pickle.loads(pickle.dumps(domain)), copy.deepcopy(domain)):
        assert again == domain
        assert hash(again) == hash(domain)
        assert again.encode(["a", 1, None]).tolist() == domain.encode(["a", 1, None]).tolist()


def test_domains_differ():
    """The domains of this file are all different, so the round trip above means something."""
    assert len(set(DOMAINS.values())) == len(DOMAINS)


@each_domain
def test_frozen(domain):
    """A domain cannot be changed."""
    with pytest.raises(AttributeError):
        domain.missing = 1
