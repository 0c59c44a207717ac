"""The stable codes of diagnostics: how much each matters, what it means, what to do.

A code never changes its meaning and is never used again. Each has a section in ``rules/README.md``, made from this table,
and a pair of files in ``tests/rules/bad`` that shows it.
"""

from __future__ import annotations

from typing import Final

import msgspec

from chilkoot.language.diagnostics import Diagnostic, Place, Severity

__all__ = ["CODES", "MAX_DIAGNOSTICS", "Code", "Report", "explain"]

MAX_DIAGNOSTICS: Final = 200
"""So many diagnostics are kept for one file; whoever has more has sent something else."""


class Code(msgspec.Struct, frozen=True):
    """One code: its severity, a title, and an explanation with the way out."""

    severity: Severity
    title: str
    explanation: str


_ERROR, _WARNING, _ADVICE = Severity.ERROR, Severity.WARNING, Severity.ADVICE

CODES: Final[dict[str, Code]] = {
    # The file and its YAML
    "R001": Code(
        _ERROR,
        "The file is not plain UTF-8",
        "Rules are UTF-8 text without a byte order mark. A byte that is no UTF-8, a mark (BOM) in front or a file in UTF-16 "
        'is refused, since programs disagree about what such a file says. Save it again as "UTF-8" in the editor.',
    ),
    "R002": Code(
        _ERROR,
        "A character that can't stand in a file of rules",
        "Control characters, NUL, unusual line breaks and marks that change the direction of text are refused: they can hide "
        "what a line says. Delete the character that the caret shows.",
    ),
    "R003": Code(
        _ERROR,
        "The file is too large",
        "A file of rules has at most 64 KiB. The longest real variant needs less than one of them.",
    ),
    "R004": Code(
        _ERROR,
        "Not YAML",
        "The text could not be read as YAML. Reading ends there, so mend this first; the other mistakes of the file are "
        "reported after that. Most often a bracket or a quote is not closed, an indentation is off by one, or text that "
        'holds ": " or begins with one of `@ % * & ! | >` needs quotes.',
    ),
    "R005": Code(
        _ERROR,
        "A tab",
        "YAML forbids tabs in indentation and editors show them in different widths, so a file of rules has none. "
        "Use spaces, two for each level.",
    ),
    "R006": Code(
        _ERROR,
        "More than one document",
        "A line `---` begins another YAML document. One file holds one variant; give each a file of its own.",
    ),
    "R007": Code(
        _ERROR,
        "An anchor or an alias",
        "`&name` and `*name` make YAML refer to itself, and are refused. Write the value where it is needed, or use `extends`. "
        "A text that begins with `*` needs quotes; in `.UUUUUU *4` the star stands inside and needs none.",
    ),
    "R008": Code(
        _ERROR,
        "A tag",
        "`!word` asks a YAML reader to build something of a type. Rules are plain data; leave the tag out, or put a text that "
        "begins with `!` in quotes.",
    ),
    "R009": Code(
        _ERROR,
        "A key is given twice",
        "Most YAML readers silently keep the last of two equal keys. Here both places are named; keep one of them.",
    ),
    "R010": Code(
        _ERROR,
        "Too many values",
        "A file of rules holds at most 20,000 keys, values and lists. Reading stops there.",
    ),
    "R011": Code(
        _ERROR,
        "Nested too deep",
        "Nothing in the rules language is nested more than 24 levels deep. Reading stops there.",
    ),
    "R012": Code(
        _ERROR,
        "A key that is no word",
        "Keys are plain words. Lists or mappings as keys, keys without a name and the merge key `<<` are refused; to build "
        "on another variant use `extends`.",
    ),
    "R013": Code(
        _ERROR,
        "A YAML directive",
        "Lines such as `%YAML 1.2` change how the rest is read. The language is fixed, so leave them out.",
    ),
    "R014": Code(
        _ERROR,
        "The file is empty",
        "A variant needs at least a deal of its own, or `extends` and what differs.",
    ),
    "R015": Code(
        _ERROR,
        "The name of the file is no id",
        "A variant's id is the name of its file without `.yaml`: lower-case letters, digits and hyphens, a letter first, at "
        "most 40 characters. Rename the file; what people read is `name`.",
    ),
    "R016": Code(
        _ERROR,
        "The file can't be read",
        "There is no such file, it is no plain file, or the program has no right to read it.",
    ),
    "R017": Code(
        _WARNING,
        "Two files with one id",
        "The folders of rules hold two files of the same name. The one in the folder that is named first is used, the other "
        "is not seen. Rename one of them.",
    ),
    "R018": Code(
        _ERROR,
        "Too many problems",
        f"The first {MAX_DIAGNOSTICS} problems of a file are shown. Mend those first.",
    ),
    # Keys and values
    "R101": Code(
        _ERROR,
        "The wrong kind of value",
        "Some keys take a mapping (`columns: 7` and so on, indented below), some a list (`[a, b]`), most a single value. "
        "The message says which is wanted here.",
    ),
    "R102": Code(
        _ERROR,
        "Unknown key",
        "Nothing is ignored: a key that the language doesn't know is an error, since it is most likely misspelt or stands in "
        "the wrong place. The help names the nearest key, the place where a key of that name belongs, or all keys there are.",
    ),
    "R103": Code(
        _ERROR,
        "A value that is not on the list",
        "This key takes one of a few words. The help names the nearest, or all of them. YAML's special words (`yes`, `off`, "
        "`~`) have no special meaning here.",
    ),
    "R104": Code(
        _ERROR,
        "Not a number in the range",
        "A plain whole number within the bounds that the message names is wanted, without leading zeros, underscores, "
        "colons, quotes or a decimal point (YAML reads `010` as 8 and `1:30` as 90; here they are text).",
    ),
    "R105": Code(
        _ERROR,
        "Neither true nor false",
        "Only `true` and `false` are truth values here; `yes`, `no`, `on`, `off`, `True` and quoted words are text.",
    ),
    "R106": Code(
        _ERROR,
        "Not a text of the right form",
        "A text is wanted here, of the length and form that the message names. A number or a word such as `true` needs "
        "quotes to be text.",
    ),
    "R107": Code(
        _ERROR,
        "Not a rank",
        "Ranks are `A 2 3 4 5 6 7 8 9 10 J Q K`; `T` is understood for 10.",
    ),
    "R108": Code(
        _ERROR,
        "Nothing is given",
        "A key with nothing after it is `null` in YAML and would silently remove what an extended variant says. Write a value, "
        "write `null` to remove one, or leave the key out.",
    ),
    "R109": Code(
        _ERROR,
        "A key is missing",
        "Something has no default and has to be said: how cards are dealt, how many columns each of several groups has, what "
        "an entry of `tests` expects.",
    ),
    "R110": Code(
        _ERROR,
        "A list that is empty, too long or repeats itself",
        "The list needs another number of entries, or holds one of them twice.",
    ),
    "R111": Code(
        _ERROR,
        "Another version of the language",
        "`dsl` names the version of the rules language that a file is written in. This program reads version 1.",
    ),
    "R112": Code(
        _ERROR,
        "Not an id",
        "Variants are named by id: the name of a file without folder and ending, such as `yukon`. Paths are refused.",
    ),
    "R113": Code(
        _ERROR,
        "Not suits",
        "`deck.suits` names suits by their letters, C D H S, each at most once: `CDHS` is the whole pack, `S` only spades.",
    ),
    "R114": Code(
        _ERROR,
        "Not a picture of a deal",
        "A picture has one letter for each place, left to right: `U` a card face up, `D` face down, `.` none. ` *4` behind it "
        "deals it four times, `<` in front deals from right to left. For foundations it is `U` or a rank with a number, `A*4`.",
    ),
    # Other files, levels
    "R201": Code(
        _ERROR,
        "No such variant to extend",
        "`extends` names the id of a variant in a file beside this one or in a folder of rules. No file of that name is there.",
    ),
    "R202": Code(
        _ERROR,
        "A variant that extends itself",
        "Following `extends` from file to file leads back to where it began. One of them has to stand by itself.",
    ),
    "R203": Code(
        _ERROR,
        "Extends too deep",
        "A chain of `extends` has at most 8 links. Extend a variant nearer to the beginning of the chain.",
    ),
    "R204": Code(
        _ERROR,
        "Not a level",
        "`levels` maps numbers from 1 to 99 to what differs on that level. What a file says about itself (`name`, `extends`, "
        "`tests` and the like) can't differ between levels.",
    ),
    "R205": Code(
        _ERROR,
        "No such level",
        "`default_level`, and `level` in `tests`, name one of the variant's own levels.",
    ),
    # The variant as a whole
    "R301": Code(
        _ERROR,
        "A picture of the wrong width",
        "A picture of a deal has exactly one letter for each column, cell or reserve pile (one reserve pile alone takes its "
        "whole picture). Add `.` for places that get no card, or mend the number of places.",
    ),
    "R302": Code(
        _ERROR,
        "More cards are dealt than the deck has",
        "The deal runs out of cards at the pass that the caret shows.",
    ),
    "R303": Code(
        _ERROR,
        "Cards are left over",
        "Every card must be accounted for. What the deal leaves is the stock, and nothing here ever deals from it: deal the "
        "cards, or say where the stock goes with `stock.deal_to`.",
    ),
    "R304": Code(
        _ERROR,
        "Too much of it",
        "A table has at most 8 packs, 416 cards, 32 columns, 12 cells, 32 foundations and 32 reserve piles.",
    ),
    "R305": Code(
        _ERROR,
        "A rank that the deck lacks",
        "The rank named here is not among `deck.ranks`.",
    ),
    "R306": Code(
        _ERROR,
        "The goal can't be reached",
        "With these foundations not all the cards that the goal asks for can go home. Check `count`, `base`, `suits` and "
        "`build` (most often `wrap: true` is missing where the base is not the lowest rank).",
    ),
    "R307": Code(
        _ERROR,
        "Cards for a place that isn't there",
        "Cards are dealt to cells or reserve piles, and the variant has none.",
    ),
    "R308": Code(
        _ERROR,
        "A deal to the foundations that can't be",
        "`U` deals one card of any rank and needs a base that is `dealt` or `first_played`; `A*4` takes cards of a rank that is "
        "the base of as many foundations.",
    ),
    "R309": Code(
        _ERROR,
        "A setup that can't be",
        "`aces_to_foundations` needs aces and foundations that begin with one; `base_card` needs `foundations.base: dealt`; "
        "`low_to_bottom` needs a lowest rank that is known.",
    ),
    "R310": Code(
        _ERROR,
        "A column higher than allowed",
        "The deal puts more cards on a column than `tableau.max_cards` allows.",
    ),
    "R311": Code(
        _ERROR,
        "Two keys that contradict each other",
        "Each of the two makes sense, both together do not; the message names the other one.",
    ),
    # tests
    "R401": Code(
        _ERROR,
        "Not a board",
        "The board of a test is a text such as `t2: TH | t5: <AD> 9S 4D`: piles of this variant (`t` columns, `f` foundations, "
        "`c` cells, `r` reserves, `s1` stock, `w1` waste), bottom card first, `<AD>` face down, cards of the deck only.",
    ),
    "R402": Code(
        _ERROR,
        "Not a move",
        "A move is `t5 4 t2` (the last four cards of t5 onto t2), `t5 1 f` (home), `draw`, `home`, or `turn t3`.",
    ),
    "R403": Code(
        _ERROR,
        "Not what a test can expect",
        "`expect` is `legal` or the code of the reason for which a move is refused.",
    ),
    "R404": Code(
        _ERROR,
        "A test fails",
        "The rules answer the move of this test otherwise than it expects. Either the test is wrong or the rules do not say what "
        "was meant; the help is what a player would be told.",
    ),
    # Warnings
    "R501": Code(
        _WARNING,
        "A key without effect",
        "The key is spelt right but changes nothing in this variant, since something else that it needs is missing. Leave it "
        "out, or add what it needs.",
    ),
    "R502": Code(
        _WARNING,
        "An override that changes nothing",
        "The extended variant (or, within `levels`, the variant) says the same without this line.",
    ),
    "R503": Code(
        _WARNING,
        "Levels that are the same game",
        "Two levels have the same rules. Leave one out, or let them differ.",
    ),
    "R504": Code(
        _WARNING,
        "null removes nothing",
        "`null` removes what the extended variant says, and there is nothing to remove here.",
    ),
    # Advice
    "R901": Code(
        _ADVICE,
        "A relation that never holds",
        "No two cards of this deck stand in the relation asked for: other colours in a deck of one colour, other suits in a "
        "deck of one suit.",
    ),
    "R902": Code(
        _ADVICE,
        "No first move in most deals",
        "In most of ten fixed deals nothing can be done at the start, so such a game is lost before it begins. Deal more cards "
        "face up, or let more cards fit on each other.",
    ),
    "R903": Code(
        _ADVICE,
        "Won without thinking",
        "A player who sends cards home when they fit, and otherwise makes the first move that looks useful, won all of ten fixed "
        "deals, hardly with more moves than there are cards. There is nothing to decide in such a game.",
    ),
    "R904": Code(
        _ADVICE,
        "No deal can be won",
        "The rules themselves keep deals from being won, however well they are played: some cards can never move, or no complete "
        "run can ever be built.",
    ),
    "R905": Code(
        _ADVICE,
        "An option that can't matter",
        "The value is one that never comes to bear in this game, such as a limit that is larger than anything it could limit. "
        "Leave it out, or choose one that does.",
    ),
    "R906": Code(
        _ADVICE,
        "A game without an end",
        "A player who gets no further is never told that the game is lost, and can go on for ever. That may be meant.",
    ),
}


def explain(code: str) -> str | None:
    """A code's explanation as a person reads it, None for a code that does not exist."""
    one = CODES.get(code.strip().upper())
    if one is None:
        return None
    return f"{code.strip().upper()} ({one.severity}): {one.title}\n\n{one.explanation}\n"


class Report:
    """Collects what is said about one file, up to a bound; with `errors_only` nothing that does not refuse it."""

    def __init__(self, *, errors_only: bool = False) -> None:
        self.errors_only: Final = errors_only
        self.diagnostics: list[Diagnostic] = []
        self._said: set[Diagnostic] = set()
        self._errors = 0
        self._refused: set[tuple[str, int, int]] = set()

    @property
    def is_full(self) -> bool:
        """Whether more diagnostics would not be kept, so that looking for help is wasted."""
        return len(self.diagnostics) >= MAX_DIAGNOSTICS

    @property
    def is_hopeless(self) -> bool:
        """Whether the file is refused and no more can be said of it, so that reading on is wasted."""
        return self.is_full and self._errors > 0

    @property
    def errors(self) -> int:
        """How many errors there were so far."""
        return self._errors

    def say(self, code: str, place: Place, message: str, help: str = "") -> None:  # noqa: A002  # it is what it is called
        """Add a diagnostic of that code."""
        start = (place.file, place.line, place.column)
        if start in self._refused:
            # YAML that is refused means nothing, so there is nothing more to say about it.
            return
        if code in {"R007", "R008"}:
            self._refused.add(start)
        severity = CODES[code].severity
        if self.errors_only and severity is not Severity.ERROR:
            return
        self._errors += severity is Severity.ERROR
        one = Diagnostic(code=code, severity=severity, place=place, message=message, help=help)
        if self.is_full:
            if len(self.diagnostics) == MAX_DIAGNOSTICS and one not in self._said:
                text = f"more than {MAX_DIAGNOSTICS} problems; from here on they are not shown"
                self.diagnostics.append(
                    Diagnostic(code="R018", severity=Severity.ERROR, place=place, message=text)
                )
        elif one not in self._said:
            # What is said of a line that all levels share is said once.
            self._said.add(one)
            self.diagnostics.append(one)
