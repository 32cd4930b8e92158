"""One decision of a seat through text: its prompt, and the reading of answers."""

from collections.abc import Sequence

from linkzoo.core.game import Game
from linkzoo.core.state import Record
from linkzoo.text.answers import MoveError, asks_for_moves, read_move
from linkzoo.text.moves import list_moves
from linkzoo.text.prompts import STANDARD, PromptSettings, ask


class TextTurn:
    """The decision of the seat to act.

    Args:
        game: The game.
        state: The position; a seat is to act.
        history: Earlier moves as far as the seat may know them, oldest first (`History.lines`).
        settings: The contents of the prompt.
    """

    def __init__(
        self,
        game: Game,
        state: Record,
        history: Sequence[str] = (),
        settings: PromptSettings = STANDARD,
    ) -> None:
        self._game = game
        self._state = state
        self._history = history
        self._settings = settings
        self._listed = settings.moves == "listed"

    def prompt(self) -> str:
        """Returns the prompt; ValueError if the game is over."""
        return ask(self._game, self._state, self._history, self._settings)

    def read(self, answer: str) -> int:
        """Returns the legal action that an answer states.

        Raises:
            MoveError: No legal move is stated, or the move is ambiguous. Of kind `"request"`: the
                answer asks for the legal moves, and the message lists them; once a decision, with
                `moves="on_request"`.
        """
        if self._settings.moves == "on_request" and not self._listed and asks_for_moves(answer):
            self._listed = True
            moves = list_moves(self._game, self._state)
            raise MoveError("request", f"Legal moves:\n{moves}")
        return read_move(self._game, self._state, answer, listed=self._listed)
