"""Games through text alone: prompts, lists of moves, answers, and hidden information."""

import itertools
import re
import time

import numpy as np
import pytest

import linkzoo
from linkzoo.core.kernels import kernels
from linkzoo.testing import play
from linkzoo.text import MoveError, TextGame, ask, describe, list_moves, read_move, rules_text
from linkzoo.text.answers import _tokens
from linkzoo.text.moves import legal_moves
from tests.common.variants import ONE, Variant, every_size

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
        pytest.param(1000, marks=[pytest.mark.slow, pytest.mark.nightly], id="many"),
    ],
)
def test_games_through_text_are_those_by_numbers(variant: Variant, games: int) -> None:
    """Moves chosen from the list of moves give the same games as actions."""
    for seed in range(games):
        by_text, by_number = started(variant, seed), started(variant, seed)
        for turn in itertools.count():
            if by_text.over:
                break
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
    for event in game.events(seat):
        assert f"- {event}" in prompt
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


@every_size
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
