"""A page as HTML: a whole document in the colours of the web client, without scripts, readable on a phone."""

from __future__ import annotations

from html import escape
from typing import Final

from chilkoot.guide.page import Block, Bullets, Page, Paragraph, Question, Table

__all__ = ["STYLE", "as_html"]

STYLE: Final = (
    ":root{color-scheme:light dark;--page:#eaf1ec;--bar:#f7faf8;--text:#16302b;--muted:#3d5850;--accent:#0b7f69;--line:#6d8a80}"
    "@media(prefers-color-scheme:dark){:root{--page:#123630;--bar:#0a1d1b;--text:#edf5f1;--muted:#a9c4bb;--accent:#63e0c1;--line:#5d8479}}"
    "*{box-sizing:border-box}"
    "body{margin:0;background:var(--page);color:var(--text);font:1.0625rem/1.6 system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans',"
    "'Liberation Sans','DejaVu Sans',sans-serif;font-variant-numeric:tabular-nums;overflow-wrap:break-word}"
    "header,main,footer{max-width:46rem;margin:0 auto;padding:0 1.125rem}"
    "header{padding-top:1.5rem}footer{padding-bottom:2rem;color:var(--muted);font-size:.9375rem}"
    "h1{font-size:1.875rem;line-height:1.2;margin:.5rem 0}"
    "h2{font-size:1.3125rem;line-height:1.3;margin:2.25rem 0 .5rem;padding-bottom:.25rem;border-bottom:2px solid var(--accent)}"
    "h3{font-size:1.0625rem;line-height:1.4;margin:1.25rem 0 .25rem}"
    "p{margin:.5rem 0}ul,ol{margin:.5rem 0;padding-left:1.375rem}li{margin:.375rem 0}"
    ".lead{color:var(--muted);font-size:1.1875rem}"
    ".wide{overflow-x:auto;margin:.75rem 0}"
    "table{border-collapse:collapse;width:100%;background:var(--bar)}"
    "th,td{text-align:left;vertical-align:top;padding:.5rem .75rem;border:1px solid var(--line);font-weight:400;min-width:4rem}"
    ".long th,.long td{min-width:10rem}.long td:first-child{min-width:0}"
    "thead th,strong{font-weight:650}"
    "a{color:var(--accent)}a:focus-visible{outline:3px solid var(--accent);outline-offset:2px}"
    "details{margin:1rem 0}summary{cursor:pointer}pre{overflow-x:auto;padding:.75rem;background:var(--bar);border:1px solid var(--line);"
    "font-size:.875rem;line-height:1.45}"
    "@media print{:root{--page:#fff;--bar:#fff;--text:#000;--muted:#333;--accent:#000;--line:#999}}"
)
"""The page's style sheet, the same for every page, so that a server can name its hash in the page's policy."""


def as_html(page: Page, *, source: str = "", home: str = "") -> str:
    """The page as a whole HTML document; `source` are the rules as they were written, `home` the address of all games."""
    parts = [
        "<!doctype html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>How to play {escape(page.title)}</title>",
        f"<style>{STYLE}</style>",
        "</head>",
        "<body>",
        "<header>",
    ]
    if home:
        parts.append(f'<nav><a href="{escape(home)}">All games</a></nav>')
    parts += [
        f"<h1>{escape(page.title)}</h1>",
        f'<p class="lead">{_join(page.lead)}</p>',
        "</header>",
        "<main>",
    ]
    for section in page.sections:
        parts += ["<section>", f"<h2>{escape(section.title)}</h2>"]
        parts += [_block(block) for block in section.blocks]
        parts.append("</section>")
    parts += ["</main>", "<footer>", *(f"<p>{escape(line)}</p>" for line in page.foot)]
    if source:
        parts.append(
            f"<details><summary>The rules as they were written</summary><pre>{escape(source)}</pre></details>"
        )
    parts += ["</footer>", "</body>", "</html>"]
    return "\n".join(parts) + "\n"


def _join(sentences: tuple[str, ...]) -> str:
    return escape(" ".join(sentences))


def _block(block: Block) -> str:
    if isinstance(block, Paragraph):
        return f"<p>{_join(block.sentences)}</p>"
    if isinstance(block, Bullets):
        kind = "ol" if block.is_numbered else "ul"
        items = [
            f"<li>{f'<strong>{escape(item.term)}:</strong> ' if item.term else ''}{_join(item.sentences)}</li>"
            for item in block.items
        ]
        return "\n".join([f"<{kind}>", *items, f"</{kind}>"])
    if isinstance(block, Table):
        head = "".join(f'<th scope="col">{escape(cell)}</th>' if cell else "<td></td>" for cell in block.head)
        rows = [
            f'<tr><th scope="row">{escape(row[0])}</th>{"".join(f"<td>{escape(cell)}</td>" for cell in row[1:])}</tr>'
            for row in block.rows
        ]
        # Columns of sentences must not shrink to a word a line on a phone.
        is_long = any(len(cell) > 30 for row in block.rows for cell in row)
        # A region that scrolls has to be reached by keyboard too.
        opened = f'<div class="wide" role="region" tabindex="0" aria-label="{escape(_name_of(block))}">'
        return "\n".join(
            [
                opened,
                '<table class="long">' if is_long else "<table>",
                f"<thead><tr>{head}</tr></thead>",
                "<tbody>",
                *rows,
                "</tbody>",
                "</table>",
                "</div>",
            ]
        )
    assert isinstance(block, Question)
    return f"<h3>{escape(block.question)}</h3>\n<p>{_join(block.answer)}</p>"


def _name_of(table: Table) -> str:
    """What a table shows: its column heads."""
    return "Table: " + ", ".join(cell for cell in table.head if cell)
