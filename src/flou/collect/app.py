"""The collector as an ASGI application (extra ``collect``).

    GET  /                 one page with the live estimates
    GET  /survey.json      the questions, for those who write a client
    GET  /survey.toml      the same, as the file that ``flou survey`` reads
    POST /reports          a batch: {"survey": fingerprint, "batch": name, "reports": {question: [...]}}
    GET  /estimates.json   the estimates with their intervals

A batch is acknowledged once it is on disk. A malformed batch is refused with 422, a batch that is too long with 413;
neither leaves a trace. The collector never sees an answer, and keeps only sums of the reports.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from flou.collect.page import live_page
from flou.collect.store import Store
from flou.errors import FlouError, InvalidData, MissingExtra
from flou.local.survey.collection import reports_in

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

__all__ = ["collector"]

LONGEST = 16 * 2**20  # bytes of a batch


def collector(store: Store, *, longest: int = LONGEST) -> Starlette:
    """The application that collects into ``store``; run it with any ASGI server."""
    try:
        from starlette.applications import Starlette
        from starlette.concurrency import run_in_threadpool
        from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse
        from starlette.routing import Route
    except ImportError:
        raise MissingExtra(
            "The collector needs Starlette and uvicorn.",
            "They are not installed with flou, because most users never run a collector.",
            "Install them with: pip install 'flou[collect]'.",
        ) from None

    def refused(status: int, error: FlouError) -> Response:
        return JSONResponse({"what": error.what, "why": error.why, "do": error.do}, status)

    async def reports(request: Request) -> Response:
        try:
            body = await _body(request, longest)
            if body is None:
                return refused(413, _too_long(longest))
            name, found = _batch(store, body)
            new = await run_in_threadpool(store.add, name, found)
        except FlouError as error:
            return refused(422, error)
        return JSONResponse({"batch": name, "counted": sum(map(len, found.values())), "again": not new})

    async def estimates(_: Request) -> Response:
        collection = await run_in_threadpool(store.collection)
        found = await run_in_threadpool(collection.estimates)
        values = {name: release.to_dict() for name, release in found.items()}
        people = {name: aggregate.people for name, aggregate in collection.aggregates.items()}
        return JSONResponse({"survey": store.survey.fingerprint, "reports": people, "estimates": values})

    async def page(_: Request) -> Response:
        collection = await run_in_threadpool(store.collection)
        return HTMLResponse(await run_in_threadpool(live_page, collection))

    async def survey_json(_: Request) -> Response:
        return JSONResponse({"fingerprint": store.survey.fingerprint, **store.survey.to_dict()})

    async def survey_toml(_: Request) -> Response:
        return PlainTextResponse(store.survey.to_toml())

    return Starlette(
        routes=[
            Route("/", page),
            Route("/survey.json", survey_json),
            Route("/survey.toml", survey_toml),
            Route("/reports", reports, methods=["POST"]),
            Route("/estimates.json", estimates),
        ]
    )


async def _body(request: Request, longest: int) -> bytes | None:
    """The body of the request, or None as soon as it is longer than allowed."""
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > longest:
            return None
        parts.append(part)
    return b"".join(parts)


def _batch(store: Store, body: bytes) -> tuple[str, dict[str, Any]]:
    try:
        batch = json.loads(body)
    except (ValueError, RecursionError):
        batch = None
    name = batch.pop("batch", None) if isinstance(batch, dict) else None
    found = reports_in(store.survey, batch)
    if not isinstance(name, str):
        raise InvalidData(
            "The batch has no name.",
            "The name shows that a batch is sent again, so that it is not counted twice.",
            'Add the key "batch" with a random text, and use the same text when the batch is sent again.',
        )
    return name, found


def _too_long(longest: int) -> InvalidData:
    return InvalidData(
        f"A batch has at most {longest} bytes.",
        "A longer batch could exhaust the memory of the collector.",
        "Send the reports in several batches.",
    )
