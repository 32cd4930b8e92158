"""Who looks at a game, and what they may do."""

from dataclasses import dataclass
from itertools import islice

from linkzoo.core.state import Record
from linkzoo_training.web.tables import RefusedError, Table


@dataclass(frozen=True)
class Viewer:
    """A link to a table: that of a seat, or of the screen that all people share.

    Attributes:
        table: The table.
        own: The seat of the link; None for the shared screen, and where agents play alone.
    """

    table: Table
    own: int | None = None

    @property
    def seat(self) -> int | None:
        """The seat whose turn or view is shown; None for nobody's."""
        return self.table.looking if self.own is None else self.own

    @property
    def sees(self) -> int | None:
        """The seat whose knowledge is shown; None for the referee's."""
        return self.seat if self.table.secret else None

    @property
    def waiting(self) -> int | None:
        """The seat that is to look at the shared screen; nothing is shown until then."""
        return self.table.waiting

    def legal(self) -> list[int]:
        """The legal actions, if the viewer is to act."""
        to_act = self.waiting is None and self.own in (None, int(self.table.state.seat))
        return self.table.legal() if to_act else []

    def last_own(self) -> int | None:
        """The ply of the move that the viewer can take back, else None.

        It is the viewer's last (any person's on a shared screen, if nothing is hidden), and on a
        screen of one's own no other person has moved since.
        """
        table = self.table
        own = [self.seat] if table.game.hides or self.own is not None else table.humans
        ply = table.history.last_of(own)
        if self.own is None or ply is None:
            return ply
        others = [seat for seat in table.humans if seat != self.own]
        return ply if (table.history.last_of(others) or -1) < ply else None

    def before_last(self) -> tuple[Record, int]:
        """Returns the position before the viewer's last move, and that; RefusedError without."""
        self.check_looking()
        table = self.table
        last = None if self.seat is None else table.history.last_of([self.seat])
        if last is None:
            raise RefusedError("there is no move of yours")
        state = next(islice(table.record.replay(), last, None))
        return state, table.record.actions[last]

    def check_turn(self) -> None:
        """Raises RefusedError unless the viewer is to act."""
        self.check_looking()
        if self.own not in (None, int(self.table.state.seat)):
            raise RefusedError("the game is over" if self.table.over else "it isn't your turn")

    def play(self, move: str) -> None:
        """Plays the viewer's move; RefusedError if it isn't possible."""
        self.check_turn()
        self.table.play(move)

    def look(self, seat: int) -> None:
        """Confirms that the person to act is at the shared screen; RefusedError for another."""
        self.table.look(seat)

    def step(self) -> None:
        """Lets an agent move, in a game without people; RefusedError where people play."""
        self.table.step()

    def take_back(self) -> None:
        """Takes back the viewer's last move and all moves after it; RefusedError without one."""
        last = self.last_own()
        if last is None:
            raise RefusedError("there is no move of yours to take back")
        self.check_looking()
        self.table.take_back(last)

    def resign(self) -> None:
        """Ends the game for the viewer's seat; RefusedError if nobody is there to resign."""
        self.check_looking()
        if self.table.over or self.seat is None:
            raise RefusedError("the game is over" if self.table.over else "nobody plays here")
        self.table.resign(self.seat)

    def rematch(self, seed: int) -> None:
        """Begins another game at the table; RefusedError before the end of this one."""
        if not self.table.over:
            raise RefusedError("the game isn't over: end or resign it first")
        self.table.deal(seed)

    def check_looking(self) -> None:
        """Raises RefusedError while the shared screen waits for the next player."""
        if self.waiting is not None:
            raise RefusedError(f"player {self.waiting} is to look first")
