"""``flou collect``: a small server that receives reports and shows live estimates."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from flou.cli.command import app
from flou.collect import Store, collector
from flou.errors import MissingExtra
from flou.local import Survey

__all__ = ["collect_app", "serve"]

ABOUT = """
Collect the reports of a survey over the network.

A batch of reports is acknowledged once it is on disk, so a crash of the server loses nothing. Only sums are kept.
"""


collect_app = typer.Typer(name="collect", help=ABOUT, no_args_is_help=True, rich_markup_mode="rich")
app.add_typer(collect_app)


@collect_app.callback()
def collect() -> None: ...


@collect_app.command("serve")
def serve(
    survey: Annotated[Path, typer.Argument(help="The survey file (TOML) that respondents use.")],
    database: Annotated[Path, typer.Option(help="The file that keeps the sums. It is created if it does not exist.")],
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port to listen on.")] = 8000,
    certificate: Annotated[Path | None, typer.Option(help="For HTTPS: the certificate (PEM). Default: HTTP.")] = None,
    key: Annotated[Path | None, typer.Option(help="For HTTPS: the key of the certificate (PEM).")] = None,
) -> None:
    """Receive reports, and show live estimates as a page and as JSON.

    Example: flou collect serve survey.toml --database sums.db
    """
    store = Store(database, Survey.from_toml(survey))
    application = collector(store)
    try:
        import uvicorn
    except ImportError:
        raise MissingExtra(
            "The collector needs uvicorn.",
            "It is an extra, because only servers need it.",
            "Install it with: pip install 'flou[collect]'.",
        ) from None
    scheme = "http" if certificate is None else "https"
    Console(highlight=False).print(
        f"Live estimates at {scheme}://{host}:{port}/, reports to {scheme}://{host}:{port}/reports"
    )
    uvicorn.run(
        application,
        host=host,
        port=port,
        log_level="warning",
        ssl_certfile=None if certificate is None else str(certificate),
        ssl_keyfile=None if key is None else str(key),
    )
