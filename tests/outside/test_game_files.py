"""Games of a file, `FILE.py:name`, and of modules in the current folder."""

import pickle
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import linkzoo
from linkzoo import registry
from linkzoo_training.commands.cli import main
from linkzoo_training.config.config import load_config
from linkzoo_training.imports import import_object

MINE = """
from dataclasses import replace
import connect_four
from own_rules import TITLE
GAME = replace(connect_four.GAME, name="{name}", title=TITLE)
"""


@pytest.fixture
def own_file(
    registered_before: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[str]:
    """The name of a game in a file of the current folder, which imports another file there."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.chdir(tmp_path)
    name = f"mine_{tmp_path.name}".replace("-", "_")
    (tmp_path / "own_rules.py").write_text("TITLE = 'Mine'")
    (tmp_path / "my_game.py").write_text(MINE.format(name=name))
    yield name
    sys.modules.pop("own_rules", None)


def test_by_file_and_name(own_file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever a game's name is taken; it is kept with the whole path of its file."""
    game = linkzoo.get_game("my_game.py:GAME")
    whole = f"{tmp_path / 'my_game.py'}:GAME"
    assert (game.name, game.title, registry.id_of(game)) == (own_file, "Mine", whole)
    assert linkzoo.make("my_game.py:GAME").game is game
    assert linkzoo.make_vec("./my_game.py:GAME", 2).game is game
    (tmp_path / "run.yaml").write_text("name: a\ngame: my_game.py:GAME\n")
    assert load_config("run.yaml").game == load_config("my_game.py:GAME").game == whole
    record = linkzoo.GameRecord.of(game, game.blank(), None)
    record.save("game.json")
    monkeypatch.chdir("/")
    assert linkzoo.GameRecord.load(tmp_path / "game.json").game == whole
    assert pickle.loads(pickle.dumps(game)) is game
    assert main(["evaluate", "random", "greedy", "--game", whole, "faces=2"]) == 2


def test_files_that_are_refused(own_file: str, tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("1 / 0")
    for name, complaint in {
        "other.py:GAME": "can't import other.py: FileNotFoundError",
        "broken.py:GAME": "can't import broken.py: ZeroDivisionError: division by zero$",
        "my_game.py:NAME": r"the games of my_game.py are \['GAME'\]",
        "my_game.py:": "a game from outside is module:name or FILE.py:name",
    }.items():
        with pytest.raises(ValueError, match=complaint):
            linkzoo.get_game(name)


def test_a_module_that_is_not_found_has_a_remedy() -> None:
    for name in ("no_such_module:GAME", "no_such_module.rules:GAME"):
        with pytest.raises(ValueError, match=r"\(add the folder .*PYTHONPATH"):
            linkzoo.get_game(name)
        with pytest.raises(ValueError, match=r"\(add the folder .*PYTHONPATH"):
            import_object(name, "agent")


def test_commands_find_modules_of_the_current_folder(
    own_file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """As the tutorials have it: `linkzoo train leduc_ppo.yaml` beside the folder `leduc`."""
    command = ["evaluate", "random", "greedy", "--game", "my_game:GAME", "--players", "7"]
    assert main(command) == 2
    assert "num_players: 7 is not 2" in capsys.readouterr().err
