"""Positions know the content of their board, whatever its name."""

from pathlib import Path

import numpy as np
import pytest

from linkzoo import GameEnv, get_game
from linkzoo.games import link_o
from tests.link_o.helpers import GAME, start

BOARDS = Path(link_o.__file__).parent / "boards"


def test_bytes_of_another_board(tmp_path: Path) -> None:
    """Another board is refused by name; a copy under another name is the same board."""
    state = start()
    copied = tmp_path / "copied.json"
    copied.write_bytes((BOARDS / "ring4x16.json").read_bytes())
    same = get_game("link_o", {"board": str(copied)})
    assert same.from_bytes(state.tobytes()).tobytes() == state.tobytes()
    other = GameEnv("link_o", board="ring4x16x2")
    with pytest.raises(ValueError, match="of another board"):
        other.game.from_bytes(state.tobytes())
    with pytest.raises(ValueError, match="of another board"):
        other.set_state(state.tobytes())
    assert GAME.from_bytes(state.tobytes()).tobytes() == state.tobytes()


def test_json_of_an_own_board(tmp_path: Path) -> None:
    """A position on a custom board has a digest of the file; one on a shipped board has none."""
    assert "digest" not in GAME.to_dict(start())
    path = tmp_path / "own.json"
    path.write_bytes((BOARDS / "ring4x16.json").read_bytes())
    game = get_game("link_o", {"board": str(path)})
    state = game.blank(2, {"board": str(path)})
    game.rules.new_game(state, np.uint64(1))
    data = game.to_dict(state)
    assert game.from_dict(data).tobytes() == state.tobytes()
    with pytest.raises(ValueError, match="digest: '000000000000'"):
        game.from_dict(data | {"digest": "000000000000"})
    del data["digest"]
    assert game.from_dict(data).tobytes() == state.tobytes()
