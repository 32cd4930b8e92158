"""Views of a game by the seat or screen of a link, and the actions allowed there."""

from dataclasses import dataclass
from itertools import islice

from linkzoo.core.game import SPECTATOR
from linkzoo.core.state import Record
from linkzoo_training.web.game_session import GameSession, RefusedError, Wish


@dataclass(frozen=True)
class Viewer:
    """A link to a game: one person's, or the screen that all people share.

    Attributes:
        session: The game.
        own_seat: The seat of the link; None for the shared screen, for spectators, and for games
            between agents.
        spectator: Whether the link only watches: it shows public information.
    """

    session: GameSession
    own_seat: int | None = None
    spectator: bool = False

    @property
    def screen(self) -> int | None:
        """The seat of the link, SPECTATOR or None: links with the same screen have equal views."""
        return SPECTATOR if self.spectator else self.own_seat

    @property
    def seat(self) -> int | None:
        """The seat whose turn or view is shown; None if there is none."""
        if self.own_seat is not None or self.spectator:
            return self.own_seat
        return self.session.looking

    @property
    def sees(self) -> int | None:
        """The seat whose knowledge is shown; None for the referee's."""
        if not self.session.secret:
            return None
        if self.spectator:
            return SPECTATOR
        if self.seat is None:  # nobody is at the shared screen yet
            return self.session.humans[0]
        return self.seat

    @property
    def waiting(self) -> int | None:
        """The seat that has to confirm it is at the shared screen; nothing is shown until then."""
        return None if self.spectator else self.session.waiting

    @property
    def has_turn(self) -> bool:
        """Whether the seat to act is the link's; always on the shared screen."""
        if self.spectator:
            return False
        return self.own_seat is None or self.own_seat == int(self.session.state.seat)

    def legal(self) -> list[int]:
        """The legal actions, if the viewer is to act."""
        if self.waiting is not None or not self.has_turn:
            return []
        return self.session.legal()

    def last_own(self) -> int | None:
        """The ply of the move that the viewer can take back or ask to take back, else None.

        It is the viewer's last move; on a shared screen without hidden information, any person's.
        A move of another person ends the possibility, and so do luck, hidden information that was
        shown, and the end. Where something is hidden, it must still be the viewer's turn.
        """
        session = self.session
        if self.spectator:
            return None
        movers = session.humans
        if self.own_seat is not None:
            movers = [self.own_seat]
        others = [seat for seat in session.humans if seat not in movers]
        last = session.history.last_of(movers)
        answer = session.history.last_of(others)
        if last is None or (answer is not None and answer > last):
            return None
        if session.game.hides:
            # The number of the others' moves can be hidden. On a shared screen, they can't agree.
            alone = self.own_seat is not None or len(session.humans) == 1
            if not (alone and self.legal() and last == len(session.history) - 1):
                return None
        return last if session.can_return(last) else None

    def before_last(self) -> tuple[Record, int]:
        """Returns the position before the viewer's last move, and the move.

        Raises:
            RefusedError: There is no such move, or the screen is covered.
        """
        self.check_looking()
        session = self.session
        last = session.history.last_of([self.seat])
        if self.seat is None or last is None:
            raise RefusedError("there is no move of yours")
        state = next(islice(session.record.replay(), last, None))
        return state, session.record.actions[last]

    def check_turn(self) -> None:
        """Raises RefusedError unless the viewer is to act."""
        self.check_plays()
        self.check_looking()
        if not self.has_turn:
            self.session.refuse_turn()

    def play(self, move: str) -> None:
        """Plays the viewer's move; RefusedError if it isn't possible."""
        self.check_turn()
        self.session.play(move)

    def look(self, seat: int) -> None:
        """Confirms that the person to act is at the shared screen; RefusedError for another."""
        self.check_plays()
        self.session.look(seat)

    def step(self) -> None:
        """Lets an agent move, in a game without people; RefusedError where people play."""
        self.check_plays()
        self.session.step()

    def take_back(self) -> None:
        """Takes back the viewer's last move and all later moves, or asks the others to agree.

        Raises:
            RefusedError: There is no move that can be taken back.
        """
        self.check_plays()
        self.check_looking()
        session = self.session
        last = self.last_own()
        if last is None:
            raise RefusedError("there is no move of yours that can be taken back")
        if self.own_seat is None or len(session.humans) == 1:
            session.take_back(last)
        elif session.wish is None:
            session.wish = Wish(self.own_seat, last)
            session.touch()

    def agree(self, agrees: bool) -> None:
        """Answers another person's wish to take back a move; RefusedError if there is none."""
        self.check_plays()
        session = self.session
        wish = session.wish
        if wish is None or self.own_seat is None or self.own_seat == wish.seat:
            raise RefusedError("nobody else asks to take back a move")
        if not agrees:
            session.wish = None
            session.touch()
            return
        wish.agreed.add(self.own_seat)
        if wish.agreed | {wish.seat} == set(session.humans):
            session.take_back(wish.ply)
        else:
            session.touch()

    def resign(self) -> None:
        """Ends the game for the viewer's seat; RefusedError if the viewer has none."""
        self.check_plays()
        self.check_looking()
        if self.session.over:
            raise RefusedError("the game is over")
        if self.seat is None:
            raise RefusedError("nobody plays here")
        self.session.resign(self.seat)

    def rematch(self, seed: int) -> None:
        """Begins another game with the same seats; RefusedError before the end of this one."""
        self.check_plays()
        if not self.session.over:
            raise RefusedError("the game isn't over: end or resign it first")
        self.session.deal(seed)

    def check_plays(self) -> None:
        """Raises RefusedError for spectators."""
        if self.spectator:
            raise RefusedError("this link only watches the game")

    def check_looking(self) -> None:
        """Raises RefusedError while the shared screen waits for the next player."""
        if self.waiting is not None:
            raise RefusedError(f"player {self.waiting} has to look first")
