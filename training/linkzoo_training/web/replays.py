"""Opened records: each position and the moves so far, as a viewer may know them."""

import asyncio
from collections.abc import Sequence

from linkzoo import GameRecord, get_game
from linkzoo.core.arguments import integer
from linkzoo.core.history import seat_to_act
from linkzoo.core.state import Record, winners_of
from linkzoo_training.web.history import Event, History, Viewer
from linkzoo_training.web.views import Json, named, picture


class Replay:
    """A record with its positions and, where something is hidden, a view for each seat.

    Args:
        record: The record; its moves are legal.
        people: The seats of people; None if they aren't known.

    Attributes:
        report: The report on the game, once it is written.
        reporting: Held while the report is written.
    """

    def __init__(self, record: GameRecord, people: Sequence[int] | None = None) -> None:
        self.record = record
        self.people = people
        self.report: Json | None = None
        self.reporting = asyncio.Lock()
        self.game = get_game(record.game, record.options)
        self.positions = list(record.replay())
        self.viewers: list[Viewer] = [None]
        if self.game.hides:
            self.viewers += range(record.num_players)
        self._logs: dict[Viewer, list[Event]] = {}

    def position(self, ply: int) -> Record:
        """Returns the position after `ply` actions; ValueError if there is none."""
        return self.positions[integer("ply", ply, 0, len(self.positions) - 1)]

    def head(self, viewer: Viewer) -> Json:
        """Returns the data of the whole game: the seats, the viewers and a viewer's log.

        Args:
            viewer: None for the referee; in games with hidden information also a seat.

        Raises:
            ValueError: There is no such viewer.
        """
        return {
            "game": self.game.name,
            "title": self.game.title,
            "players": self.record.num_players,
            "names": self.record.names,
            "roles": list(self.game.roles(self.record.options)),
            "viewers": self.viewers,
            "plies": len(self.positions) - 1,
            "log": [
                {
                    "ply": event.ply + 1,
                    "words": named(event.words, self.record.names),
                    "touched": event.touched,
                }
                for event in self._log(viewer)
            ],
        }

    def picture(self, ply: int, viewer: Viewer, *, tall: bool = False) -> str:
        """Returns a position's SVG, `tall` for a narrow screen; raises as `head`."""
        self._check(viewer)
        return picture(self.game, self.position(ply), viewer, tall=tall)

    def words(self, ply: int, viewer: Viewer) -> Json:
        """Returns the prompt, the scores and the winners of a position; raises as `head`."""
        self._check(viewer)
        state = self.position(ply)
        guide = self.game.guide
        return {
            "acting": seat_to_act(self.game, state, viewer),
            "prompt": named(guide.prompt(state, viewer), self.record.names),
            "scores": [row._asdict() for row in guide.score_rows(state, viewer)],
            "winners": winners_of(state),
        }

    def _check(self, viewer: Viewer) -> None:
        if viewer not in self.viewers:
            raise ValueError(f"seat: {viewer} is not one of {self.viewers[1:]}")

    def _log(self, viewer: Viewer) -> list[Event]:
        self._check(viewer)
        if viewer not in self._logs:
            history = History(self.game, [] if viewer is None else [viewer])
            for state, action in zip(self.positions, self.record.actions, strict=False):
                history.add(state, action)
            self._logs[viewer] = history.seen(viewer)
        return self._logs[viewer]
