"""A Love Links position as text for a person, without the order of the supplies (R4)."""

from textwrap import wrap

from linkzoo.games.love_links import describe
from linkzoo.games.love_links.components import LINK_NUMBERS, LINK_TEXTS, METALS, STONES
from linkzoo.games.love_links.links import LinkSet
from linkzoo.games.love_links.tables import LINKS

_WIDTH = 100  # columns of a line that can be broken
_KEY = """\
Bracelets run from the open key to the open lock. b, s, g: bronze, silver, gold (1, 2, 3 points);
D diamond (10), R ruby, E emerald, S sapphire (5); (0) placed by player 0. [worth 26]: when closed
by the player to move, but for the closing link."""


def draw_text(position: describe.Json, link_set: LinkSet) -> str:
    """Returns a position, as JSON, as lines of text.

    Bracelets by slot, then the sides with scores and hands (`>` is to act), the supplies, and the
    turn.
    """
    lines = [f"Love Links, {describe.stage(position)}", ""]
    for slot, chain in describe.bracelets(position).items():
        words = _chain(chain)
        points = describe.worth(position, chain, link_set.closed_length)
        if points is not None:
            words += f"  [worth {points}]"
        lines += _folded(f"@{slot}", words)
    lines.append("")
    for side in range(len(position["scores"])):
        lines += _side(position, side)
    lines.append("")
    for metal in METALS:
        links = position["supply"][metal]
        lines += _folded(metal, f"{len(links)} left  {_supply(links)}".rstrip())
    if position["set_aside"]:
        lines += _folded("aside", "  ".join(map(_link, position["set_aside"])))
    turn = f"{describe.turn(position)}, {describe.remark(position)}"
    return "\n".join([*lines, "", _KEY, "", turn, ""])


def _folded(label: str, words: str) -> list[str]:
    """Returns lines of words behind a label, indented equally."""
    return wrap(words, _WIDTH, initial_indent=f"{label:<8}", subsequent_indent=" " * 8)


def _link(words: str) -> str:
    """Returns `7-10gE`: key, lock, metal, stone."""
    number = LINK_NUMBERS[words]
    metal = METALS[LINKS.metal[number]]
    stone = STONES[LINKS.stone[number]]
    return f"{words}{metal[0]}{stone[:1].upper()}"


def _chain(chain: describe.Chain) -> str:
    """Returns the links of a bracelet, with their owners."""
    texts = []
    for number, owner in chain:
        text = _link(LINK_TEXTS[number])
        if owner is not None:
            text += f"({owner})"
        texts.append(text)
    return "  ".join(texts)


def _side(position: describe.Json, side: int) -> list[str]:
    """Returns a line with a side's score, and a line for each of its hands."""
    name = describe.side_name(position, side)
    score = position["scores"][side]
    lines = [f"{name}: {score} points, {position['captured'][side]} captured"]
    for seat in describe.seats_of(position, side):
        links = "  ".join(map(_link, position["hands"][seat]))
        mark = ">" if seat == position["seat"] else " "
        lines.append(f"  {mark} {seat}   {links}".rstrip())
    return lines


def _supply(links: list[str]) -> str:
    """Returns the links of a supply, sorted by type, with their numbers."""
    texts = []
    for words in sorted(set(links), key=LINK_NUMBERS.__getitem__):
        text = _link(words)
        if links.count(words) > 1:
            text += f"×{links.count(words)}"
        texts.append(text)
    return "  ".join(texts)
