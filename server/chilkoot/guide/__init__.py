"""What people read of a variant: how it is played, its own tests, advice on rules that make no good game. Pure."""

from chilkoot.guide.advice import advise_on
from chilkoot.guide.chapters import guide_to
from chilkoot.guide.inline_tests import answer_to, run_tests
from chilkoot.guide.markdown import as_markdown
from chilkoot.guide.page import Page
from chilkoot.guide.webpage import STYLE, as_html

__all__ = ["STYLE", "Page", "advise_on", "answer_to", "as_html", "as_markdown", "guide_to", "run_tests"]
