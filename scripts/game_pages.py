"""Writes the generated parts of the games' pages: facts, rules in pictures, sample actions.

`python -m scripts.game_pages` fills the marked sections of docs/games/*.md and draws positions of
the recorded games in docs/games/played; a test fails when a page isn't up to date.
"""

import dataclasses
from pathlib import Path
from typing import NamedTuple

import numpy as np

import linkzoo
from linkzoo import Game, GameRecord
from linkzoo.core.state import Record
from linkzoo.svg.raster import to_png

FOLDER = Path(__file__).parents[1] / "docs" / "games"
WIDTH = 720  # of pictures, in pixels
_EXAMPLES = 4  # legal actions shown per position


class Scene(NamedTuple):
    """A position of the recorded game: ply, viewing seat (None: the referee), caption."""

    ply: int
    seat: int | None
    caption: str


SCENES = {
    "linkage": (
        Scene(
            4,
            None,
            "**Placing (R4).** A piece covers two empty neighbouring cells. It must not touch the "
            "piece that was placed last, marked with the green counter: hatched cells are closed "
            "for this move.",
        ),
        Scene(
            22,
            None,
            "**The end (R8 to R10).** No piece fits any more. Connected cells of one colour are a "
            "group; More wins with 12 groups or more, Fewer with fewer.",
        ),
    ),
    "love_links": (
        Scene(
            0,
            None,
            "**Set-up (R6).** Five bracelets of one link, and a hand for each seat. A key (the "
            "disc) fits a lock that is a multiple of it (R10): `KEY` puts the bracelet's open key "
            "into a link of the hand, `LOCK` the link's key into the bracelet's open lock.",
        ),
        Scene(
            25,
            None,
            "**Closing (R10, R16).** A link that fits at both ends may close the bracelet if it "
            "then has five links or more. All its links score; the marks below them show who "
            "placed them.",
        ),
    ),
    "link_o": (
        Scene(
            1,
            0,
            "**Seat 0's view (R2).** It sees its own hand, but only the number of tiles in the "
            "other hand and the bag. Its first tile is a double or a LINK-O on any empty connector "
            "of its colour (R6).",
        ),
        Scene(
            20,
            None,
            "**Placing (R9 to R12).** A tile goes on the circle of its colour, next to another "
            "tile, and touching ends must have the same value. Connectors join two circles and "
            "take only doubles and LINK-Os. (The referee's view.)",
        ),
    ),
    "love_formula": (
        Scene(
            0,
            0,
            "**The draft, seat 0's view.** Each player picks a card from a pack and passes the "
            "rest on. The other pack and the others' picks are hidden.",
        ),
        Scene(
            150,
            None,
            "**Placing a preparation.** It goes to a couple that requires its kind, or to the free "
            "slot of its kind. Complete couples score 4 or 9 points (R26). (The referee's view.)",
        ),
        Scene(
            176,
            None,
            "**A reaction (R18 to R20).** An obstacle targets a couple. Before it takes effect, "
            "each player who holds a matching reaction may play it.",
        ),
    ),
}


def filled(name: str) -> str:
    """Returns the page of a game with its marked sections filled."""
    page = (FOLDER / f"{name}.md").read_text(encoding="utf-8")
    game = linkzoo.get_game(name)
    for mark, text in (("facts", facts(game)), ("pictures", scenes(name))):
        before, start, rest = page.partition(f"<!-- {mark} -->\n")
        _, end, after = rest.partition(f"<!-- /{mark} -->")
        page = f"{before}{start}{text}\n{end}{after}"
    return page


def facts(game: Game) -> str:
    """Returns a table of the game's declared properties."""
    spec = game.observation.spec
    shape = f"{np.dtype(spec.dtype)}[{', '.join(map(str, spec.shape))}]"
    players = dict.fromkeys((game.min_players, game.max_players))
    privileged, symmetries = game.observation.privileged_spec, game.observation.symmetries
    hidden = [] if privileged is None else [f"`{part.name}`" for part in privileged.parts]
    count = 1 if symmetries is None else len(symmetries()[0])
    options = [f"`{field.name}`" for field in dataclasses.fields(game.options)]
    rows = {
        "environment": f'`linkzoo.{game.name}_v0`, `linkzoo.make("{game.name}")`',
        "players": " to ".join(map(str, players)),
        "chance": "yes" if game.facts.chance else "none",
        "hidden from a seat": ", ".join(hidden) or "nothing",
        "actions": f"`Discrete({game.num_actions})`, [their meaning](#actions)",
        "observation": f"`{shape}`, {len(spec.parts)} [named parts](#observation)",
        "options": f"{', '.join(options)}: [values and defaults](#options)",
        "length": f"about {game.facts.typical_length:,} decisions in random play; at most "
        f"{game.facts.max_length:,}",
        "record size": f"{game.state.itemsize:,} bytes",
        'reward with `reward="score"`': "the margin in points, divided by "
        f"{game.facts.score_scale:g}",
        "symmetries": str(count) if count > 1 else "none",
        "exact solver": "yes" if game.solver else "none",
    }
    return "\n".join(
        ["| | |", "|---|---|", *(f"| {what} | {fact} |" for what, fact in rows.items())]
    )


def scenes(name: str) -> str:
    """Returns the pictures with captions and some legal actions."""
    parts = []
    for number, (scene, game, state) in enumerate(_positions(name), 1):
        mask = np.zeros(game.num_actions, np.int8)
        game.rules.legal_actions(state, mask)
        legal = [int(action) for action in mask.nonzero()[0]]
        shown = [legal[len(legal) * k // _EXAMPLES] for k in range(min(_EXAMPLES, len(legal)))]
        parts += [f"![{name}, ply {scene.ply}](rules/{name}_{number}.png)", scene.caption]
        if shown:
            texts = (
                f"| {action} | `{game.notation.action_to_text(state, action)}` |"
                for action in shown
            )
            head = f"| action | {len(legal)} legal, such as |"
            parts.append("\n".join([head, "|---:|---|", *dict.fromkeys(texts)]))
    return "\n\n".join(["", *parts, ""])


def _positions(name: str) -> list[tuple[Scene, Game, Record]]:
    record = GameRecord.load(FOLDER / "played" / f"{name}.json")
    game, states = linkzoo.get_game(name, record.options), list(record.replay())
    return [(scene, game, states[scene.ply]) for scene in SCENES[name]]


if __name__ == "__main__":
    (FOLDER / "rules").mkdir(exist_ok=True)
    for name in linkzoo.game_names():
        (FOLDER / f"{name}.md").write_text(filled(name), encoding="utf-8")
        for number, (scene, game, state) in enumerate(_positions(name), 1):
            picture = FOLDER / "rules" / f"{name}_{number}.png"
            picture.write_bytes(to_png(game.draw_svg(state, scene.seat), WIDTH))
