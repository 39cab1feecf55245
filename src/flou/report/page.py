"""The page: what was asked, the answers with their intervals, what they cost in odds, and the certificates."""

from __future__ import annotations

from html import escape

from flou.ask import Answer, Answers
from flou.release.digits import cost_column, priced
from flou.release.entries import Entry, entries
from flou.release.picture import picture_of
from flou.render.svg import figure
from flou.report.style import STYLE

__all__ = ["page"]

READING = """
<p><b>These rows</b>: with 95 % probability the interval holds what the table itself would say without noise; it comes
from the law of the noise. <b>Population</b>: it also counts that the rows are a sample, independent draws.</p>
<p><b>The noise</b> was drawn anew for this page. Asking again would give other numbers, and cost again.</p>
<p><b>Not protected</b> is what the statistics say about everyone, you included, whether or not you took part.</p>
"""


def page(answers: Answers) -> str:
    """All answers as one HTML page."""
    shown = [(answer, entries(answer.release)) for answer in answers]
    title = f"{answers.dataset}: private statistics"
    sections = "".join(_section(answer, lines, f"a{i}") for i, (answer, lines) in enumerate(shown, start=1))
    certificates = "".join(_certificate(answer) for answer in answers)
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{escape(title)}</title>
<style>{STYLE}</style>
</head>
<body>
<main>
<header>
<p class="kicker">Private statistics</p>
<h1>{escape(answers.dataset)}</h1>
<p class="soft">{_subtitle(answers)}</p>
</header>
<div class="cost">
<p>What it cost: {escape(priced(answers.cost))} in total, proved</p>
<p>{escape(answers.cost.in_words())}</p>
</div>
{_overview(shown, answers)}
{sections}
<section>
<h2>How to read this page</h2>
{READING}
</section>
<section>
<h2>Certificates</h2>
<p class="soft small">Each answer has one: how it was made, what it cost, what is known about its error. Each names the
hash of the one before it, so that none can be changed or left out unnoticed.</p>
{certificates}
</section>
</main>
</body>
</html>
"""


def _subtitle(answers: Answers) -> str:
    number, first = len(answers.answers), answers.answers[0].release.certificate["id"]
    words = [f"{number} answer{'s' if number != 1 else ''}", f"released {first['created_utc'][:10]}"]
    if answers.where is not None:
        words.append(f"rows where <code>{escape(answers.where)}</code>")
    protected = "each row" if answers.cost.unit == "row" else f"each {answers.cost.unit}"
    return " · ".join([*words, f"protects {escape(protected)} ({escape(answers.cost.relation)})"])


def _table(head: list[str], rows: list[list[str]], foot: list[str] | None = None) -> str:
    """A table of escaped texts whose first column is its heading."""

    def line(cells: list[str]) -> str:
        return f'<tr><th scope="row">{cells[0]}</th>{"".join(f"<td>{cell}</td>" for cell in cells[1:])}</tr>'

    heads = "".join(f'<th scope="col">{cell}</th>' for cell in head)
    end = "" if foot is None else f"<tfoot>{line(foot)}</tfoot>"
    body = "".join(map(line, rows))
    return f'<div class="scroll"><table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody>{end}</table></div>'


def _overview(shown: list[tuple[Answer, list[Entry]]], answers: Answers) -> str:
    rows = []
    name, costs = cost_column([*(answer.release.cost for answer in answers), answers.cost])
    for (answer, lines), cost in zip(shown, costs, strict=False):
        one = answer.release.labels is None
        middle = _texts(lines[0]) if one else [f"{len(lines)} values", "see below", ""]
        rows.append([escape(answer.question), *middle, cost])
    head = ["question", "value", "95 %, these rows", "95 %, population", name]
    return _table(head, rows, ["together", "", "", "", costs[-1]])


def _texts(line: Entry) -> list[str]:
    return list(map(escape, line.texts))


def _section(answer: Answer, lines: list[Entry], name: str) -> str:
    release = answer.release
    drawing = picture_of(release)
    if release.labels is None:
        value, data, population = _texts(lines[0])
        told = f'<p class="big">{value}</p>'
        if data and not lines[0].is_number:
            told += f"<p>95 %: {data} for these rows, {population} for the population behind them.</p>"
        elif data:
            told += (
                f"<p>With 95 % certainty between {data.replace(' to ', ' and ')} for these rows, and between "
                f"{population.replace(' to ', ' and ')} for the population behind them.</p>"
            )
        numbers = ""
    else:
        told = ""
        rows = [[escape(line.label), *_texts(line)] for line in lines]
        table = _table(["", "value", "95 %, these rows", "95 %, population"], rows)
        numbers = f"<details><summary>The {len(lines)} numbers</summary>{table}</details>"
    picture = "" if drawing is None else figure(drawing, name, answer.title)
    note = f'<p class="soft small">{escape(release.note)}</p>' if release.note else ""
    return (
        f'<section><div class="head"><h2>{escape(answer.title)}</h2>'
        f'<span class="soft small">{escape(priced(release.cost))}</span></div>'
        f"{told}{picture}{note}{numbers}</section>"
    )


def _certificate(answer: Answer) -> str:
    certificate = answer.release.certificate
    return (
        f"<details><summary>{escape(answer.question)} · <code>{certificate.hash[:16]}…</code></summary>"
        f'<p class="small">SHA-256 <code>{certificate.hash}</code></p>'
        f"<pre>{escape(certificate.to_json())}</pre></details>"
    )
