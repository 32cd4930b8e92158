"""Love Links as text and as a picture, without the order of the supplies (R4)."""

from textwrap import wrap

from linkzoo.engine.compiled import Record
from linkzoo.games.love_links import picture
from linkzoo.games.love_links.notation import to_dict
from linkzoo.games.love_links.pieces import LINK_NUMBERS, LINK_TEXTS, LINKS, METALS, STONES
from linkzoo.games.love_links.view import (
    Chain,
    Json,
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
    return picture.draw(to_dict(state, seat))


def draw_text(state: Record, seat: int | None = None) -> str:
    """The position as lines of text; all seats see the same.

    Bracelets by slot, then the sides with scores and hands (`>` is to act), the links that are
    still to come, and the turn.
    """
    view = to_dict(state, seat)
    lines = [f"Love Links, {stage(view)}", ""]
    for slot, chain in bracelets(view).items():
        lines += _folded(f"@{slot}", _chain(chain) + _note(worth(view, chain)))
    lines.append("")
    for side in side_range(view):
        lines += _side(view, side)
    lines.append("")
    for metal in METALS:
        links = view["supply"][metal]
        lines += _folded(metal, f"{len(links)} left  {_supply(links)}".rstrip())
    if view["set_aside"]:
        lines += _folded("aside", "  ".join(map(_link, view["set_aside"])))
    return "\n".join([*lines, "", _KEY, "", f"{turn(view)}, {remark(view)}", ""])


def _folded(label: str, words: str) -> list[str]:
    """Lines with a label before the first."""
    return wrap(words, _WIDTH, initial_indent=f"{label:<8}", subsequent_indent=" " * 8)


def _link(words: str) -> str:
    """`7-10gE`: key, lock, metal, stone."""
    kind = LINKS[LINK_NUMBERS[words]]
    return f"{words}{METALS[kind.metal][0]}{STONES[kind.stone][:1].upper()}"


def _chain(chain: Chain) -> str:
    return "  ".join(
        _link(LINK_TEXTS[number]) + ("" if owner is None else f"({owner})")
        for number, owner in chain
    )


def _note(points: int | None) -> str:
    return "" if points is None else f"  [worth {points}]"


def _side(view: Json, side: int) -> list[str]:
    name, score = side_name(view, side), view["scores"][side]
    lines = [f"{name}: {score} points, {view['captured'][side]} captured"]
    for seat in seats_of(view, side):
        links = "  ".join(map(_link, view["hands"][seat]))
        lines.append(f"  {'>' if seat == view['seat'] else ' '} {seat}   {links}".rstrip())
    return lines


def _supply(links: list[str]) -> str:
    """The links that are still to come, sorted by their numbers."""
    return "  ".join(
        _link(words) + f"×{links.count(words)}" * (links.count(words) > 1)
        for words in sorted(set(links), key=LINK_NUMBERS.__getitem__)
    )
