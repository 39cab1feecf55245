"""CSV files: one rule for every line, whatever stands in the others."""

from __future__ import annotations

import gzip

import pytest

from flou.domain import Boolean, Categories, Integers, Interval
from flou.errors import InvalidData
from flou.summaries import Code, Counts, Sums, column, rows_of

X, G = Code("a", Integers(0, 9, missing=9)), Code("b", Categories(["x", "y", "z"]))
TABLE = [Counts((X, G))]


def read(tmp_path, content, name="table.csv"):
    """For every row of the table its number and its text, 9 and None where there is none."""
    path = tmp_path / name
    path.write_bytes(content)
    (found,) = rows_of(str(path)).collect(TABLE)
    labels = ["x", "y", "z", None]
    return sorted((int(i), labels[j]) for i, j in zip(*found.nonzero(), strict=True) for _ in range(found[i, j]))


GOOD = [(1, "x"), (3, "z")]
LINES = [
    (b"2", (2, None)),  # a cell is not there
    (b"2,y,7", (2, "y")),  # a cell too many
    (b"2,y,", (2, "y")),
    (b'2,y,"q\nr",\'', (2, "y")),
    (b"2," + b"y," * 3000, (2, "y")),
    (b'2,"a\nb"', (2, None)),  # the end of a line in quotes
    (b'2,"a\r\nb"', (2, None)),
    (b'2,"y"', (2, "y")),
    (b'2,"y""y"', (2, None)),
    (b'2,y"y', (2, None)),
    (b"2,'y'", (2, None)),
    (b"x,y", (9, "y")),  # no number
    (b",y", (9, "y")),
    (b'"",y', (9, "y")),
    (b"nan,y", (9, "y")),
    (b"1;000,y", (9, "y")),
    (b'"1,000",y', (9, "y")),
    (b" 2 ,y", (2, "y")),
    (b"2.9,y", (2, "y")),
    (b"2e0,y", (2, "y")),
    (b"-inf,y", (0, "y")),
    (b"1e400,y", (9, "y")),
    (b"99999999999999999999999999999999999999999999,y", (9, "y")),
    (b"0x2,y", (9, "y")),
    (b"2," + b"q" * 3_000_000, (2, None)),
    (b"2,x\0", (2, None)),
    (b"# 2,y", (9, "y")),
    (b"2,\xff\xfe", None),  # not UTF-8: left out
]


@pytest.mark.parametrize(("line", "row"), LINES, ids=[line[:12].decode("latin-1") for line, _ in LINES])
@pytest.mark.parametrize("end", [b"\n", b"\r\n"], ids=["lf", "crlf"])
def test_one_line(tmp_path, line, row, end):
    """A line becomes the row that is declared, first, last or in between, and the other rows stay what they are."""
    one, three = b"1,x", b"3,z"
    for lines in ([line, one, three], [one, line, three], [one, three, line]):
        assert read(tmp_path, end.join([b"a,b", *lines, b""])) == sorted([*GOOD, row] if row else GOOD, key=str), lines


def test_blank_lines_and_ends(tmp_path):
    """Blank lines are no rows, the last line needs no end, a mark at the beginning is ignored, a table may be empty."""
    assert read(tmp_path, b"a,b\n1,x\n\n3,z") == GOOD
    assert read(tmp_path, b"\xef\xbb\xbfa,b\n1,x\n3,z\n") == GOOD
    assert read(tmp_path, b"a,b\n") == []
    assert read(tmp_path, b"a,b") == []


def test_separators_come_from_the_header(tmp_path):
    """The separator is the one that makes most names, and no row has a say in it."""
    for separator in (b",", b";", b"\t", b"|"):
        rows = b"a,b\n1,x\n3,z\n".replace(b",", separator)
        assert read(tmp_path, rows) == GOOD
        assert read(tmp_path, rows + b";;;;;;\n" if separator == b"," else rows + b",,,,,\n") != GOOD
    assert read(tmp_path, gzip.compress(b"a\tb\n1\tx\n3\tz\n"), "t.tsv.gz") == GOOD
    assert read(tmp_path, gzip.compress(b"a,b\n1,x\n3,z\n"), "t.CSV.GZ") == GOOD


def test_one_column(tmp_path):
    """In a file of one column an empty line is an empty cell, whatever ends the lines."""
    for end in ("\n", "\r\n"):
        path = tmp_path / "one.csv"
        path.write_bytes(end.join(["a", "1", "", "3", ""]).encode())
        assert rows_of(path).collect([Counts((X,))])[0].nonzero()[0].tolist() == [1, 3, 9]


def test_numbers_and_truths(tmp_path):
    """A column is read as what its domain says: exact whole numbers, truths by word or number, texts as they are."""
    path = tmp_path / "t.csv"
    path.write_text(f"n,t,g\n{2**53 + 1},TRUE,01\n{2**53}.7,false,1\n5e15, 1 ,1.0\nx,0.0,true\n,2,\n")
    n, t = Code("n", Integers(2**53 - 1, 2**53 + 5, missing=2**53 + 5)), Code("t", Boolean(missing=True))
    number, text = Code("g", Categories([1])), Code("g", Categories(["1", "01"]))
    truth, real = Code("g", Categories([True, False])), Code("n", Interval(0, 1e16, cells=10))
    rows = rows_of(str(path))
    found = rows.collect([Counts((code,)) for code in (n, t, number, text, truth)] + [Sums(((real,),))])
    assert [answer.tolist() for answer in found] == [
        [1, 1, 1, 0, 0, 0, 2],
        [2, 3],
        [3, 2],
        [1, 1, 3],
        [1, 0, 4],
        [9 + 9 + 5 + 5 + 5],
    ]
    for condition, size in [(column("n") == 2**53 + 1, 1), (column("n") > 2**53, 1), (column("n") >= 5e15, 3)]:
        assert rows.where(condition).collect([Sums(((),))])[0][0] == size
    for condition, size in [(column("t") == True, 2), (column("g") == "1", 1), (column("g") == 1, 3)]:  # noqa: E712
        assert rows.where(condition).collect([Sums(((),))])[0][0] == size


@pytest.mark.parametrize(
    "content", [b"", b"\n", b"a,a\n1,2\n", b"a,A\n1,2\n", b"a,,b\n1,2,3\n", b"a,\xff\n1,2\n", b"\x1f\x8b junk"]
)
def test_headers_that_name_no_columns_are_refused(tmp_path, content):
    """Every column has a name of its own, in UTF-8."""
    with pytest.raises(InvalidData) as caught:
        read(tmp_path, content)
    assert "junk" not in str(caught.value)


def test_several_files_have_one_header(tmp_path):
    """Files of one pattern are one table, if they name the same columns."""
    for i in range(3):
        (tmp_path / f"part-{i}.csv").write_bytes(b"a,b\n1,x\n3,z\n")
    assert rows_of(str(tmp_path / "part-*.csv")).collect([Sums(((),))])[0][0] == 6
    (tmp_path / "part-3.csv").write_bytes(b"b,a\n1,x\n3,z\n")
    with pytest.raises(InvalidData, match="same header"):
        rows_of(str(tmp_path / "part-*.csv"))
