"""The page of a collector: the live estimates of a survey as pictures and tables."""

from __future__ import annotations

from html import escape

from flou.local.survey.collection import Collection
from flou.release import Release
from flou.release.entries import entries
from flou.release.picture import picture_of
from flou.render.svg import figure
from flou.report.style import STYLE

__all__ = ["live_page"]

REFRESH = 10  # seconds


def live_page(collection: Collection) -> str:
    """One self-contained page, which reloads every few seconds."""
    survey = collection.survey
    sections = "".join(
        _section(i, name, collection.aggregates[name].people, release)
        for i, (name, release) in enumerate(collection.estimates().items(), start=1)
    )
    cost = next(iter(survey.randomisers.values())).guarantee
    price = f"epsilon = {float(survey.epsilon):g} for each respondent"
    words = escape(cost.in_words()) if survey.ask == "one" else "It is divided equally among the questions."
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="refresh" content="{REFRESH}">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{escape(survey.name)}: live estimates</title>
<style>{STYLE}</style>
</head>
<body>
<main>
<header>
<p class="kicker">Randomised survey</p>
<h1>{escape(survey.name)}</h1>
<p class="soft">{collection.reports:,} reports so far · no answer ever arrives here, and only sums of the reports
are kept</p>
</header>
<div class="cost">
<p>What it costs: {escape(price)}, proved</p>
<p>{words}</p>
</div>
{sections}
</main>
</body>
</html>
"""


def _section(place: int, name: str, people: int, release: Release) -> str:
    lines = entries(release)
    rows = "".join(
        f'<tr><th scope="row">{escape(line.label or release.statistic)}</th><td>{escape(line.text)}</td>'
        f"<td>{escape(line.between(line.data))}</td><td>{escape(line.between(line.population))}</td></tr>"
        for line in lines
    )
    picture = picture_of(release)
    method = release.certificate["mechanism"]["name"]
    return f"""<section>
<h2>{escape(name)}</h2>
<p class="soft small">{people:,} reports · {escape(release.statistic)} · {escape(str(method))}</p>
{"" if picture is None else figure(picture, f"q{place}", name)}
<div class="scroll"><table><thead><tr><th scope="col"></th><th scope="col">estimate</th>
<th scope="col">95 %, respondents</th><th scope="col">95 %, population</th></tr></thead>
<tbody>{rows}</tbody></table></div>
</section>
"""
