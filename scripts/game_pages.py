"""Writes the generated parts of the games' pages: facts, usage, rules in pictures, versions.

`python -m scripts.game_pages` fills the marked sections of docs/games/*.md and draws positions of
the recorded games in docs/games/played; a test fails when a page isn't up to date.
`python -m scripts.played` draws the animations.
"""

import dataclasses
import io
from pathlib import Path
from typing import NamedTuple

import numpy as np
from PIL import Image

import linkzoo
from linkzoo import Game, GameRecord
from linkzoo.core.names import versioned_name
from linkzoo.core.state import Record
from linkzoo.svg.raster import to_png

FOLDER = Path(__file__).parents[1] / "docs" / "games"
IMAGES = FOLDER.parent / "images"
WIDTH, THUMBNAIL = 720, 480  # of pictures, in pixels
# Of each game's animation, its arguments of `linkzoo replay`.
ANIMATIONS = {
    "linkage": "--width 480 --milliseconds 700",
    "love_links": "--width 480 --milliseconds 700",
    "link_o": "--width 480 --milliseconds 700",
    "love_formula": "--width 560 --plies 140-175",
}
CHANGES = ("the first version",)  # of each version of the environments
# Of each game's thumbnail, the ply.
THUMBNAILS = {"linkage": 14, "love_links": 50, "link_o": 40, "love_formula": 150}
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
    """Returns the page of a game, or the overview, `index`, with its marked sections filled."""
    page = (FOLDER / f"{name}.md").read_text(encoding="utf-8")
    for mark, text in _sections(name).items():
        before, start, rest = page.partition(f"<!-- {mark} -->\n")
        _, end, after = rest.partition(f"<!-- /{mark} -->")
        page = f"{before}{start}{text}\n{end}{after}"
    return page


def _sections(name: str) -> dict[str, str]:
    if name == "index":
        return {"games": overview()}
    game = linkzoo.get_game(name)
    return {
        "animation": animation(game),
        "facts": facts(game),
        "usage": usage(game),
        "pictures": scenes(name),
        "versions": versions(game),
        "rules": rules(name),
    }


def rules(name: str) -> str:
    """Returns the game's RULES.md without its title."""
    path = Path(linkzoo.__file__).parent / "games" / name / "RULES.md"
    _, _, text = path.read_text(encoding="utf-8").partition("\n")
    return text.strip()


def overview() -> str:
    """Returns a table of all games."""
    rows = ["| game | players | actions | observation | hidden | chance | decisions | at most |"]
    rows.append("|---|---|---:|---:|---|---|---:|---:|")
    for game in map(linkzoo.get_game, linkzoo.game_names()):
        cells = (
            f"[{game.title}]({game.name}.md)",
            _players(game),
            f"{game.num_actions:,}",
            "×".join(map(str, game.observation.spec.shape)),
            "yes" if game.hides else "no",
            "yes" if game.facts.chance else "no",
            f"about {game.facts.typical_length:,}",
            f"{game.facts.max_length:,}",
        )
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows)


def _players(game: Game) -> str:
    return " to ".join(map(str, dict.fromkeys((game.min_players, game.max_players))))


def animation(game: Game) -> str:
    """Returns the animation, and the command that draws it."""
    command = f"linkzoo replay {game.name}.json --gif {game.name}.gif {ANIMATIONS[game.name]}"
    played = f"played/{game.name}"
    return (
        f"![A game of {game.title}](../images/{game.name}.gif)\n\n"
        f"The best policy plays itself: [walk through the game]({played}.html), or replay "
        f"[its record]({played}.json). The animation:\n\n    {command}\n"
    )


def usage(game: Game) -> str:
    """Returns a program that plays a game, as any PettingZoo environment is played."""
    return f"""```python
from linkzoo import {game.versioned_name}

env = {game.versioned_name}.env(num_players={game.min_players}, render_mode="ansi")
env.reset(seed=1)
for agent in env.agent_iter():
    observation, reward, termination, truncation, info = env.last()
    mask = info["action_mask"]
    env.step(None if termination else env.action_space(agent).sample(mask))
print(env.render())
```"""


def versions(game: Game) -> str:
    """Returns a table of the environment's versions."""
    rows = [
        f"| `{versioned_name(game.name, number)}` | {text} |"
        for number, text in enumerate(CHANGES[: game.version + 1])
    ]
    return "\n".join(["| version | changes |", "|---|---|", *reversed(rows)])


def facts(game: Game) -> str:
    """Returns a table of the game's declared properties."""
    spec = game.observation.spec
    shape = f"{np.dtype(spec.dtype)}[{', '.join(map(str, spec.shape))}]"
    privileged = game.observation.privileged_spec
    symmetries = game.observation.symmetries
    hidden = [] if privileged is None else [f"`{part.name}`" for part in privileged.parts]
    count = 1 if symmetries is None else len(symmetries()[0])
    options = [f"`{field.name}`" for field in dataclasses.fields(game.options)]
    editions = [f"`{name}`" for name in game.editions]
    rows = {
        "environment": f'`linkzoo.{game.versioned_name}`, `linkzoo.make("{game.name}")`',
        "players": _players(game),
        "chance": "yes" if game.facts.chance else "none",
        "hidden from a seat": ", ".join(hidden) or "nothing",
        "actions": f"`Discrete({game.num_actions})`, [their meaning](#actions)",
        "observation": f"`{shape}`, {len(spec.parts)} [named parts](#observation)",
        "options": f"{', '.join(options)}: [values and defaults](#options)",
        "editions": f"{', '.join(editions)}: [small games, to be solved exactly](#editions)",
        "length": f"about {game.facts.typical_length:,} decisions in random play; at most "
        f"{game.facts.max_length:,}",
        "record size": f"{game.state.itemsize:,} bytes",
        'reward with `reward="score"`': "the margin in points, divided by "
        f"{game.facts.score_scale:g}",
        "symmetries": str(count) if count > 1 else "none",
        "exact solver": "yes" if game.solver else "none",
    }
    first, *others = (f"| {what} | {fact} |" for what, fact in rows.items())
    return "\n".join([first, "|---|---|", *others])


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


def _states(name: str) -> tuple[Game, list[Record]]:
    record = GameRecord.load(FOLDER / "played" / f"{name}.json")
    return linkzoo.get_game(name, record.options), list(record.replay())


def _positions(name: str) -> list[tuple[Scene, Game, Record]]:
    game, states = _states(name)
    return [(scene, game, states[scene.ply]) for scene in SCENES[name]]


def thumbnail(name: str) -> Image.Image:
    """Returns the upper part of the drawing for narrow screens: its letters are large."""
    game, states = _states(name)
    drawn = to_png(game.draw_tall(states[THUMBNAILS[name]], None), THUMBNAIL)
    return Image.open(io.BytesIO(drawn)).convert("RGB").crop((0, 0, THUMBNAIL, THUMBNAIL))


if __name__ == "__main__":
    (FOLDER / "rules").mkdir(exist_ok=True)
    for name in [*linkzoo.game_names(), "index"]:
        (FOLDER / f"{name}.md").write_text(filled(name), encoding="utf-8")
    for name in linkzoo.game_names():
        thumbnail(name).save(IMAGES / f"{name}_board.png")
        for number, (scene, game, state) in enumerate(_positions(name), 1):
            picture = FOLDER / "rules" / f"{name}_{number}.png"
            picture.write_bytes(to_png(game.draw_svg(state, scene.seat), WIDTH))
