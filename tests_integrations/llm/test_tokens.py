"""Prompts are short: counted by a tokenizer that comes with its package."""

from pathlib import Path

import mistral_common
import numpy as np
import pytest
from mistral_common.tokens.tokenizers.tekken import Tekkenizer

import linkzoo
from linkzoo.testing.play import choose
from linkzoo.text import TextGame
from linkzoo.text.prompts import estimated_tokens

MAX_TOKENS = 2000  # of a prompt without the rules
GAMES = [
    (name, players)
    for name in linkzoo.registry.NAMES
    for players in range(linkzoo.get_game(name).min_players, linkzoo.get_game(name).max_players + 1)
]


@pytest.fixture(scope="module")
def tokenizer() -> Tekkenizer:
    (file, *_) = sorted(Path(mistral_common.__file__).parent.glob("data/tekken_*.json"))
    return Tekkenizer.from_file(file)


@pytest.mark.parametrize(("name", "players"), GAMES)
def test_prompts_are_short(name: str, players: int, tokenizer: Tekkenizer) -> None:
    longest = 0
    for seed in range(2):
        game = TextGame(name, players, seed=seed)
        while not game.over:
            ply = len(game.record.actions)
            if ply % 5 == 0:
                count = len(tokenizer.encode(game.prompt(), bos=False, eos=False))
                longest = max(longest, count)
                assert game.seat is not None
                lines = "\n".join(game.lines(game.seat)[-40:])
                known = len(tokenizer.encode(lines, bos=False, eos=False))
                assert estimated_tokens(lines) >= known
            mask = np.asarray(game.positions.action_mask[0])
            game.play(choose(mask, seed, ply))
    assert 300 < longest <= MAX_TOKENS


@pytest.mark.parametrize("name", linkzoo.registry.NAMES)
def test_rules_are_longer_in_full(name: str, tokenizer: Tekkenizer) -> None:
    game = TextGame(name)
    short, full = (
        len(tokenizer.encode(game.rules(full=full), bos=False, eos=False)) for full in (False, True)
    )
    assert short < full < 4 * MAX_TOKENS
