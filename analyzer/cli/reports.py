"""`diagnose report`: a saved diagnosis in another form."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from analyzer.cli.jobs import check_lang, format_of, show
from analyzer.cli.options import Debug, Explain, Format, Lang, Open, Output
from analyzer.errors import NothingToDiagnose


def report(
    saved: Annotated[Path, typer.Argument(help="A file that --format json wrote.", metavar="DIAGNOSIS.json")],
    format: Format = None,
    output: Output = None,
    lang: Lang = "en",
    explain: Explain = False,
    open_: Open = False,
    debug: Debug = False,
) -> None:
    """Render a saved diagnosis (JSON) again."""
    check_lang(lang)
    from analyzer.report.json_report import load_report

    try:
        data = saved.read_bytes()
    except OSError as error:
        advice = "name a file that `diagnose … --format json` wrote"
        raise NothingToDiagnose(f"cannot be read ({error.strerror})", where=str(saved), advice=advice) from error
    show(
        load_report(data, str(saved)), format_of(format, output, open_), output, lang=lang, explain=explain, open_=open_
    )
