"""Love Links as text and as a picture, without the order of the supplies (R4)."""

from textwrap import wrap

from linkzoo.compiled import Record
from linkzoo.love_links import picture
from linkzoo.love_links.notation import slot_links, supply_links
from linkzoo.love_links.pieces import LINK_TEXTS, LINKS, METALS, STONES
from linkzoo.love_links.table import NONE, SET_ASIDE
from linkzoo.love_links.view import (
    bracelets,
    remark,
    seats_of,
    side_name,
    side_range,
    stage,
    turn,
    worth,
)

_WIDTH = 100  # columns, where a line can be broken
_KEY = """\
Bracelets run from the open key to the open lock. b, s, g: bronze, silver, gold (1, 2, 3 points);
D diamond (10), R ruby, E emerald, S sapphire (5); (0) placed by player 0. [worth 26]: when closed
by the player to move, but for the closing link."""


def draw_svg(state: Record, seat: int | None = None) -> str:
    """The position as an SVG document of 1200 x 720 pixels; all seats see the same."""
    return picture.draw(state)


def draw_text(state: Record, seat: int | None = None) -> str:
    """The position as lines of text; all seats see the same.

    Bracelets by slot, then the sides with scores and hands (`>` is to act), the links that are
    still to come, and the turn.
    """
    lines = [f"Love Links, {stage(state)}", ""]
    for slot, chain in bracelets(state).items():
        lines += _folded(f"@{slot}", _chain(chain) + _note(worth(state, slot)))
    lines.append("")
    for side in side_range(state):
        lines += _side(state, side)
    lines.append("")
    for metal, name in enumerate(METALS):
        lines += _folded(name, f"{state.supply_size[metal]} left  {_supply(state, metal)}".rstrip())
    if state.length[SET_ASIDE]:
        lines += _folded("aside", _chain(slot_links(state, SET_ASIDE)))
    return "\n".join([*lines, "", _KEY, "", f"{turn(state)}, {remark(state)}", ""])


def _folded(label: str, words: str) -> list[str]:
    """Lines with a label before the first."""
    return wrap(words, _WIDTH, initial_indent=f"{label:<8}", subsequent_indent=" " * 8)


def _link(number: int) -> str:
    """`7-10gE`: key, lock, metal, stone."""
    metal, stone = METALS[LINKS[number].metal], STONES[LINKS[number].stone]
    return f"{LINK_TEXTS[number]}{metal[0]}{stone[:1].upper()}"


def _chain(chain: list[tuple[int, int]]) -> str:
    return "  ".join(_link(number) + f"({owner})" * (owner != NONE) for number, owner in chain)


def _note(points: int | None) -> str:
    return "" if points is None else f"  [worth {points}]"


def _side(state: Record, side: int) -> list[str]:
    name, score = side_name(state, side), state.scores[side]
    lines = [f"{name}: {score} points, {state.captured[side]} captured"]
    for seat in seats_of(state, side):
        hand = state.hands[seat, : state.hand_size[seat]]
        links = "  ".join(_link(int(number)) for number in hand)
        lines.append(f"  {'>' if seat == state.seat else ' '} {seat}   {links}".rstrip())
    return lines


def _supply(state: Record, metal: int) -> str:
    """The links that are still to come, sorted."""
    links = sorted(supply_links(state, metal))
    return "  ".join(
        _link(number) + f"×{links.count(number)}" * (links.count(number) > 1)
        for number in dict.fromkeys(links)
    )
