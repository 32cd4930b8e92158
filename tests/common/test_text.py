"""Games through text alone: prompts, lists of moves, answers, and hidden information."""

import itertools
import re
import time
from typing import Any

import numpy as np
import pytest

import linkzoo
from linkzoo.core.kernels import kernels
from linkzoo.testing import play
from linkzoo.text import (
    MoveError,
    PromptSettings,
    TextGame,
    ask,
    describe,
    list_moves,
    read_move,
    rules_text,
)
from linkzoo.text.answers import _tokens
from linkzoo.text.moves import legal_moves
from tests.common.variants import ONE, Variant, every_size, one_game

EN_DASH = " \N{EN DASH} "


def started(variant: Variant, seed: int = 1) -> TextGame:
    return TextGame(variant.name, variant.num_players, seed=seed, **variant.options)


def expanded(listed: str) -> list[str]:
    """The moves of a numbered list or of patterns."""
    moves: list[str] = []
    for line in listed.splitlines():
        words = [part.strip("()").split("|") for part in re.findall(r"\([^()]*\)|[^ ()]+", line)]
        numbered = re.match(r"(\d+)\. (.*)", line)
        moves += [numbered[2]] if numbered else map(" ".join, itertools.product(*words))
    return moves


def phrased(move: str, listed: str, way: int) -> str:
    """A move as a model may state it."""
    numbered = re.search(rf"^(\d+)\. {re.escape(move)}$", listed, re.MULTILINE)
    ways = [
        move,
        f"I think that is best.\n\n**Move:** `{move.lower()}`.",
        f"<think>Perhaps something else?</think>```\n{move.replace('-', EN_DASH)}\n```",
        f"Option {numbered[1]}." if numbered else f"<answer> {move} </answer>",
    ]
    return ways[way // 4 % len(ways)] if way % 4 == 0 else move


@pytest.mark.parametrize("variant", ONE, ids=str)
@pytest.mark.parametrize(
    "games",
    [
        pytest.param(1, id="a_game"),
        pytest.param(1000, marks=pytest.mark.nightly, id="many"),
    ],
)
def test_games_through_text_are_those_by_numbers(variant: Variant, games: int) -> None:
    """Moves chosen from the list of moves give the same games as actions.

    Where there is but one game, every move up to the 16th, and then every twelfth.
    """
    for seed in range(games):
        by_text, by_number = started(variant, seed), started(variant, seed)
        for turn in itertools.count():
            if by_text.over:
                break
            if games == 1 and turn > 16 and turn % 12:
                action = play.choose(by_text.positions.action_mask[0], seed, turn)
                by_text.play(action)
                by_number.play(action)
                continue
            listed = list_moves(by_text.game, by_text.state)
            moves = expanded(listed)
            chosen = moves[int(linkzoo.rng.random_u64(np.uint64(seed), 9000, turn)) % len(moves)]
            action = by_number.game.notation.text_to_action(by_number.state, chosen)
            assert by_text.play(phrased(chosen, listed, turn)) == action
            by_number.play(action)
        assert by_text.record == by_number.record
        assert by_text.payoffs == by_number.payoffs
        *_, last = by_text.record.replay()
        assert last == by_text.state


@every_size
def test_moves_are_listed_and_told_apart(variant: Variant) -> None:
    for state in play.positions(variant.game, variant.num_players, variant.options, 3)[:-1:5]:
        moves = legal_moves(variant.game, state)
        assert sorted(expanded(list_moves(variant.game, state))) == sorted(moves)
        assert len(set(map(_tokens, moves))) == len(moves)


@every_size
def test_prompts_tell_no_more_than_the_seat_knows(variant: Variant) -> None:
    """They are equal in all worlds that the seat can't tell apart."""
    game = started(variant, seed=5)
    for turn in itertools.count():
        if game.over or turn > 60:
            break
        if turn % 7 == 0:
            for seat in range(variant.num_players):
                world = play.clone(game.state)
                game.game.determinize(world, seat, np.uint64(turn))
                assert describe(game.game, world, seat) == describe(game.game, game.state, seat)
                if seat == game.seat:
                    assert ask(game.game, world) == ask(game.game, game.state)
        game.play(play.choose(game.positions.action_mask[0], 5, turn))


@every_size
def test_a_prompt_has_all_that_is_needed(variant: Variant) -> None:
    game = started(variant)
    for turn in range(3):
        game.play(play.choose(game.positions.action_mask[0], 2, turn))
    prompt, seat = game.prompt(), game.seat
    assert seat is not None
    assert prompt.startswith(f"You are player {seat}")
    assert game.game.drawing.text(game.state, seat).strip() in prompt
    assert list_moves(game.game, game.state) in prompt
    assert game.game.guide.prompt(game.state, seat) in prompt
    for number, line in enumerate(game.lines(seat), 1):
        assert f"{number}. {line}\n" in prompt
    assert game.view(seat) in prompt
    rules = game.game.guide.rules_text()
    assert rules is not None
    assert rules in game.rules()
    assert len(game.rules()) < len(game.rules(full=True))


def test_options_are_told_where_they_are_not_standard() -> None:
    game = linkzoo.get_game("linkage")
    text = rules_text(game, {"board_size": 3, "threshold": 3, "free_hole": False})
    assert "- board_size = 3 instead of 7: 3 to 7" in text
    assert "- threshold = 3 instead of 12: " in text
    assert "free_hole" not in text
    assert "Options" not in rules_text(game)


def test_cards_are_told_where_the_view_names_them_alone() -> None:
    text = rules_text(linkzoo.get_game("love_formula"))
    assert "Pen Pals: couple, priority 4, 1 card. Requires: Fireworks Show, Love Letter" in text


def small_game(moves: str = "") -> TextGame:
    """Linkage on 3x3, where `W` may go to a1-b1 and c2-c3 at first, but not to b1-c2."""
    game = TextGame("linkage", board_size=3, threshold=3)
    for move in moves.split(",") if moves else ():
        game.play(move)
    return game


@pytest.mark.parametrize(
    ("answer", "move"),
    [
        ("W a1-b1", "W a1-b1"),
        (f"w A1{EN_DASH}B1.", "W a1-b1"),
        ("I'd put the white one there: W a1\N{MINUS SIGN}b1!", "W a1-b1"),
        ("W b1-a1", "W a1-b1"),  # its cells the other way round
        ("First W a1-b1 looks good, but B c2-c3 is better.", "B c2-c3"),
        ("Move: W a1-b1\nB c2-c3 would lose.", "W a1-b1"),
        ("Move: B c2-c3\nNo, wait.\nMove: W a1-b1", "W a1-b1"),
        ("## Answer\n\n**Final move:**\n\n```\nW a1-b1\n```\n", "W a1-b1"),
        ("<think>Move: B c2-c3</think>\n\nMove: W a1-b1", "W a1-b1"),
        ('{"why": "it blocks B c2-c3", "move": "W a1-b1"}', "W a1-b1"),
        ("So \\boxed{W a1-b1}", "W a1-b1"),
        ("So $\\boxed{\\text{W a1-b1}}$, not B c2-c3", "W a1-b1"),
        ("\\boxed{\\mathbf{\\text{W a1-b1}}}", "W a1-b1"),
        ("\\boxed{\\boxed{W a1-b1}}", "W a1-b1"),
        ("\\boxed {\\texttt{W}\\ a1\\text{-}b1}", "W a1-b1"),
        ("\\boxed{\\text{1}}", "W a1-b1"),
        ("\\boxed{\\text{W a1-b1}", "W a1-b1"),
        ("Move: $\\boxed{\\text{W a1-b1}}$, as B c2-c3 loses", "W a1-b1"),
        ("<answer>\\boxed{\\text{W a1-b1}} beats B c2-c3</answer>", "W a1-b1"),
        ("<answer><b>W a1-b1</b></answer>", "W a1-b1"),
        ("<answer>Move: 1</answer>", "W a1-b1"),
        ("<think>a</think>So <think>b</think>Move: W a1-b1", "W a1-b1"),
        ("<Thinking>Move: B c2-c3</Thinking>W a1-b1", "W a1-b1"),
        ("Move: B c2-c3</think>W a1-b1", "W a1-b1"),
        ("Move: W a1-b1\n<think>Or Move: B c2-c3, perhaps", "W a1-b1"),
        ("B c2-c3? No. <answer>W a1-b1</answer>", "W a1-b1"),
        ("1", "W a1-b1"),
        ("Move: 1.", "W a1-b1"),
        ("I choose option 1", "W a1-b1"),
        ("[1]", "W a1-b1"),
        ("x" * 10**6 + " W a1-b1", "W a1-b1"),
    ],
)
def test_answers_are_read(answer: str, move: str) -> None:
    game = small_game()
    assert game.game.notation.action_to_text(game.state, game.play(answer)) == move


@pytest.mark.parametrize(
    ("answer", "kind", "message"),
    [
        ("", "unreadable", "states no move: ''. Legal moves are, among others, B a3-b3, "),
        ("I can't decide.", "unreadable", "states no move"),
        ("Move: pass", "unreadable", "states no move: 'pass'"),
        ("W a1-b1 is good.\nMove: nothing", "unreadable", "'nothing'"),
        ("<think>W a1-b1, or", "unreadable", "ends before the thinking does"),
        ("Well. <think>Move: B c2-c3", "unreadable", "ends before the thinking does"),
        ("I see B c2-c3. <think>B c2-c3?", "unreadable", "ends before the thinking does"),
        ("<think>a</think>Hm. <think>Move: B c2-c3", "unreadable", "before the thinking does"),
        ("<reasoning>\nMove: B c2-c3", "unreadable", "ends before the thinking does"),
        ("<think>" + "x " * 20_000 + "Move: B c2-c3", "unreadable", "before the thinking does"),
        ("\\boxed{}", "unreadable", "states no move: ''"),
        ("Move: W a1-b1", "illegal", "W a1-b1 is not legal here. Legal moves"),
        ("B c2-c3 was my plan, but now W a1-b1", "illegal", "W a1-b1 is not legal"),
        ("take more", "illegal", "take more is not legal"),
        ("Move: 999", "illegal", "there is no move 999: the moves are 1 to "),
        ("Move: 0", "illegal", "there is no move 0"),
        ("9" * 9999, "illegal", "there is no move 999999999: "),
        ("Move: B c2-c3 or R c2-c3", "ambiguous", "may mean B c2-c3, R c2-c3: state one"),
        ("Move: c2-c3", "ambiguous", "may mean B c2-c3, R c2-c3, Y c2-c3: state one"),
    ],
)
def test_answers_that_are_no_move_teach(answer: str, kind: str, message: str) -> None:
    game = small_game("W a1-b1")
    before = game.state.tobytes()
    with pytest.raises(MoveError, match=re.escape(message)) as caught:
        game.play(answer)
    assert caught.value.kind == kind
    assert len(str(caught.value)) < 600
    assert game.state.tobytes() == before
    assert game.record.actions == [0]


@one_game
def test_any_answer_gets_a_move_or_a_message(variant: Variant) -> None:
    """Fast, however long and strange it is."""
    game = started(variant)
    start = time.perf_counter()
    for answer in (
        "1-2 " * 10**5,
        "move: " * 10**5,
        "<answer>" * 10**5,
        "\0\ud800\\boxed{",
        "\\boxed{" * 10**5,
        "<think>" * 10**5,
        "{" * 10**5 + "\\boxed{" + "{" * 10**5,
        "@" * 99,
    ):
        with pytest.raises(MoveError):
            read_move(game.game, game.state, answer)
    assert time.perf_counter() - start < 5


def test_a_text_game_is_what_it_was_asked_to_be() -> None:
    game = TextGame(
        "linkage", start=linkzoo.get_game("linkage").to_dict(small_game("W a1-b1").state)
    )
    assert game.record.start is not None
    assert game.seat == 1
    assert game.play("B c2-c3") == game.record.actions[-1]
    assert list(game.record.replay())[-1] == game.state
    with pytest.raises(ValueError, match="the action 0 is not legal"):
        game.play(0)
    with pytest.raises(ValueError, match="seed: -1 is not in"):
        TextGame("linkage", seed=-1)
    while not game.over:
        game.play("1")
    with pytest.raises(ValueError, match="the game is over"):
        game.play("1")
    with pytest.raises(ValueError, match="the game is over"):
        game.prompt()
    payoff, margin = np.empty((2, 1, 2), np.float32)
    kernels(game.game).outcome.serial(np.array([game.state]), payoff, margin)
    assert (game.payoffs, game.score_margins) == (payoff[0].tolist(), margin[0].tolist())


@every_size
def test_prompts_with_a_history_tell_no_more_than_the_seat_knows(variant: Variant) -> None:
    """Knowledge from earlier moves is equal in all worlds that the seat can't tell apart."""
    game = started(variant, seed=4)
    for turn in range(24):
        if game.over:
            break
        for seat in range(variant.num_players):
            world = play.clone(game.state)
            game.game.determinize(world, seat, np.uint64(turn))
            guide = game.game.guide
            assert guide.knowledge(world, seat) == guide.knowledge(game.state, seat)
        game.play(play.choose(game.positions.action_mask[0], 4, turn))


def test_no_memory_of_the_moves_is_needed() -> None:
    """Without history, the prompt still has all that the seat knows of hidden cards and tiles."""
    compared = 0
    game = TextGame("love_formula", 3, seed=3)
    for turn in range(60):
        seat = game.seat
        assert seat is not None
        view = game.game.to_dict(game.state, seat)
        known = [view[field][seat] for field in ("passed", "taken", "known")]
        compared += named_in(ask(game.game, game.state), known)
        game.play(play.choose(game.positions.action_mask[0], 4, turn))
    assert compared > 100


def test_tiles_that_others_lack_are_told() -> None:
    compared = 0
    game = TextGame("link_o", 2, seed=0)
    for turn in range(60):
        if game.seat is None:
            break
        lacks = game.game.to_dict(game.state, game.seat)["lacks"][1 - game.seat]
        prompt = ask(game.game, game.state)
        assert (f"Player {1 - game.seat} lacks " in prompt) == bool(lacks)
        compared += named_in(prompt, [tile.split(" ")[1] for tile in lacks])
        game.play(play.choose(game.positions.action_mask[0], 4, turn))
    assert compared > 20


def named_in(prompt: str, names: object) -> int:
    """Asserts that a prompt has all texts of nested lists; returns their number."""
    if isinstance(names, str):
        assert names in prompt
        return 1
    assert isinstance(names, list)
    return sum(named_in(prompt, part) for part in names)


def test_the_history_is_in_notation_and_bounded() -> None:
    game = TextGame("linkage", seed=1)
    for turn in range(12):
        game.play(play.choose(game.positions.action_mask[0], 4, turn))
    seat = game.seat
    assert seat is not None
    lines = game.lines(seat)
    moves = game.record.to_dict()["moves"]
    assert [line.split("; ")[0] for line in lines] == [
        f"player {turn % 2}: {move}" for turn, move in enumerate(moves)
    ]
    whole = ask(game.game, game.state, lines)
    assert f"Moves so far:\n1. {lines[0]}\n" in whole
    cut = ask(game.game, game.state, lines, PromptSettings(history_tokens=45))
    (count,) = map(int, re.findall("The latest ([0-9]+) of 12 moves:", cut))
    assert 0 < count < 12
    assert f"12. {lines[-1]}\n" in cut
    assert lines[0] not in cut
    none = ask(game.game, game.state, lines, PromptSettings(history_tokens=0))
    assert none == ask(game.game, game.state)


def test_a_seat_sees_its_own_draws() -> None:
    game = TextGame("link_o", 2, seed=0)
    drawn: list[set[str]] = [set(), set()]
    for turn in range(40):
        if game.over:
            break
        game.play(play.choose(game.positions.action_mask[0], 4, turn))
        for seat in range(2):
            line = game.lines(seat)[-1]
            drawn[seat] |= {*re.findall(f"player {seat} draws [a-z]+ ", line)}
            assert not re.search(f"player {1 - seat} draws [a-z]+ ", line)
    assert all(drawn)


@pytest.mark.parametrize("moves", ["hidden", "on_request"])
@pytest.mark.parametrize("name", linkzoo.game_names())
def test_moves_that_are_not_listed(name: str, moves: Any) -> None:
    """Neither prompts nor errors name a legal move, and numbers are none."""
    game = TextGame(name, seed=2, prompts=PromptSettings(moves=moves, history_tokens=0))
    legal = legal_moves(game.game, game.state)
    prompt = game.prompt()
    assert "Legal moves (" not in prompt
    assert list_moves(game.game, game.state) not in prompt
    assert "## Notation" in game.rules()
    for answer in ("1", "Move: 1", "nothing", "Move: zzz"):
        with pytest.raises(MoveError) as caught:
            game.play(answer)
        assert caught.value.kind != "request"
        assert not any(move in str(caught.value) for move in legal)
    if moves == "on_request":
        assert 'by "?"' in prompt
        with pytest.raises(MoveError) as caught:
            game.play("Let me see.\nMove: ?")
        assert caught.value.kind == "request"
        assert str(caught.value).endswith(list_moves(game.game, game.state))
        with pytest.raises(MoveError) as caught:
            game.play("?")  # the list was given
        assert caught.value.kind == "unreadable"
    else:
        with pytest.raises(MoveError, match="states no move"):
            game.play("Move: ?")
    assert game.play(f"Move: {[*legal][-1]}") == [*legal.values()][-1]
    with pytest.raises(MoveError) as caught:
        game.play("Move: 1")  # of the next decision: not listed again
    assert caught.value.kind != "request"


def test_a_budget_for_thinking_is_in_the_prompt() -> None:
    game = TextGame("linkage", prompts=PromptSettings(thinking_tokens=1500))
    assert "Think in at most 1,500 tokens" in game.prompt()
    with pytest.raises(ValueError, match="thinking_tokens"):
        PromptSettings(thinking_tokens=0)
    with pytest.raises(ValueError, match="moves='some'"):
        PromptSettings(moves="some")  # type: ignore[arg-type]
