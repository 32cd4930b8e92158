"""Writes what the games' pages show of the code: facts, rules in pictures, examples of actions.

`python -m scripts.game_pages` fills the marked sections of docs/games/*.md and draws the pictures,
positions of the recorded games in docs/games/played; a test fails when a page isn't up to date.
"""

import dataclasses
from pathlib import Path
from typing import NamedTuple

import numpy as np

import linkzoo
from linkzoo import Game, GameRecord
from linkzoo.engine.compiled import Record
from linkzoo.svg.raster import to_png

FOLDER = Path(__file__).parents[1] / "docs" / "games"
WIDTH = 720  # of pictures, in pixels
_EXAMPLES = 4  # of legal actions in a position


class Scene(NamedTuple):
    """A position of the recorded game: its ply, who looks (None: the referee), and the rule."""

    ply: int
    seat: int | None
    caption: str


SCENES = {
    "linkage": (
        Scene(
            4,
            None,
            "**Placing (R4).** A piece covers two empty neighbouring cells. It must not touch the "
            "piece that was placed last, which carries the green counter: hatched cells are "
            "closed for this move.",
        ),
        Scene(
            22,
            None,
            "**The end (R8 to R10).** No piece fits any more. Cells of one colour that hang "
            "together are one group; 12 groups or more win for More, fewer for Fewer.",
        ),
    ),
    "love_links": (
        Scene(
            0,
            None,
            "**Set-up (R6).** Five bracelets of one link, and a hand for each seat. A key (the "
            "disc) goes into a lock that is a multiple of it (R10): `KEY` puts the bracelet's open "
            "key into a link of the hand, `LOCK` the link's key into the bracelet's open lock.",
        ),
        Scene(
            25,
            None,
            "**Closing (R10, R16).** A link that takes the bracelet's key *and* gives its own may "
            "close a bracelet of five links or more, itself included. Its links then score; the "
            "marks below them say who placed them.",
        ),
    ),
    "link_o": (
        Scene(
            1,
            0,
            "**What seat 0 sees (R2).** Its own hand; of the other hand and the bag only how many "
            "tiles they hold. Its first tile is a double or a LINK-O, and may go to any empty "
            "connector of its colour (R6).",
        ),
        Scene(
            20,
            None,
            "**Placing (R9 to R12).** A tile goes to the circle of its colour, beside another one, "
            "and ends that meet have the same value. Connectors join two circles and take doubles "
            "and LINK-Os only. (The referee's view.)",
        ),
    ),
    "love_formula": (
        Scene(
            0,
            0,
            "**The draft, as seat 0 sees it.** Everybody picks a card from a pack and passes the "
            "rest on; the other pack and what others pick are hidden.",
        ),
        Scene(
            150,
            None,
            "**Placing a preparation.** It goes to a couple that requires its kind, or to the free "
            "slot of the kind. Complete couples score 4 or 9 points (R26). (The referee's view.)",
        ),
        Scene(
            176,
            None,
            "**A reaction (R18 to R20).** An obstacle is aimed at a couple: before it takes "
            "effect, those who hold a reaction that its trigger allows are asked.",
        ),
    ),
}


def filled(name: str) -> str:
    """The page of a game with its marked sections written anew."""
    page = (FOLDER / f"{name}.md").read_text(encoding="utf-8")
    game = linkzoo.get_game(name)
    for mark, text in (("facts", facts(game)), ("pictures", scenes(name))):
        before, start, rest = page.partition(f"<!-- {mark} -->\n")
        _, end, after = rest.partition(f"<!-- /{mark} -->")
        page = f"{before}{start}{text}\n{end}{after}"
    return page


def facts(game: Game) -> str:
    """A table of what the game declares."""
    spec = game.observation
    shape = f"{np.dtype(spec.dtype)}[{', '.join(map(str, spec.shape))}]"
    players = dict.fromkeys((game.min_players, game.max_players))
    hidden = [] if game.hidden is None else [f"`{piece.name}`" for piece in game.hidden.pieces]
    views = 1 if game.symmetries is None else len(game.symmetries()[0])
    options = [f"`{field.name}`" for field in dataclasses.fields(game.options)]  # type: ignore[arg-type]  # they are a dataclass
    rows = {
        "environment": f'`linkzoo.{game.name}_v0`, `linkzoo.make("{game.name}")`',
        "players": " to ".join(map(str, players)),
        "chance": "yes" if game.chance else "none",
        "hidden from a seat": ", ".join(hidden) or "nothing",
        "actions": f"`Discrete({game.num_actions})`, [their meaning](#actions)",
        "observation": f"`{shape}`, {len(spec.pieces)} [named pieces](#observation)",
        "options": f"{', '.join(options)}: [values and defaults](#options)",
        "decisions in a game": f"about {game.typical_length:,} in random play; at most "
        f"{game.max_length:,}",
        "a position": f"{game.state.itemsize:,} bytes",
        'reward with `reward="score"`': f"the margin in points, divided by {game.score_scale:g}",
        "symmetric views": str(views) if views > 1 else "none",
        "exact solver": "yes" if game.solver else "none",
    }
    return "\n".join(
        ["| | |", "|---|---|", *(f"| {what} | {fact} |" for what, fact in rows.items())]
    )


def scenes(name: str) -> str:
    """The pictures with their captions, and some of the legal actions in each."""
    parts = []
    for number, (scene, game, state) in enumerate(_positions(name), 1):
        mask = np.zeros(game.num_actions, np.int8)
        game.legal_actions(state, mask)
        legal = [int(action) for action in mask.nonzero()[0]]
        shown = [legal[len(legal) * k // _EXAMPLES] for k in range(min(_EXAMPLES, len(legal)))]
        parts += [f"![{name}, ply {scene.ply}](rules/{name}_{number}.png)", scene.caption]
        if shown:
            texts = (f"| {action} | `{game.action_to_text(state, action)}` |" for action in shown)
            head = f"| action | {len(legal)} legal, such as |"
            parts.append("\n".join([head, "|---:|---|", *dict.fromkeys(texts)]))
    return "\n\n".join(["", *parts, ""])


def _positions(name: str) -> list[tuple[Scene, Game, Record]]:
    record = GameRecord.load(FOLDER / "played" / f"{name}.json")
    game, states = linkzoo.get_game(name, record.options), list(record.replay())
    return [(scene, game, states[scene.ply]) for scene in SCENES[name]]


if __name__ == "__main__":
    (FOLDER / "rules").mkdir(exist_ok=True)
    for name in linkzoo.games:
        (FOLDER / f"{name}.md").write_text(filled(name), encoding="utf-8")
        for number, (scene, game, state) in enumerate(_positions(name), 1):
            picture = FOLDER / "rules" / f"{name}_{number}.png"
            picture.write_bytes(to_png(game.draw_svg(state, scene.seat), WIDTH))
