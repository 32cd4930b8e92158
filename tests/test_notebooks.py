"""Environments, records and match results in a notebook."""

from linkzoo import RandomAgent, linkage_v0
from linkzoo_training.evaluation.match import play_match


def test_an_environment_shows_its_position() -> None:
    env = linkage_v0.env()
    assert "reset()" in env._repr_html_()
    env.reset(seed=1)
    before = env._repr_html_()
    assert before == env.game.draw_svg(env.game.from_bytes(env.get_state()))
    env.step(0)
    assert env._repr_html_() != before


def test_a_record_shows_its_last_position_and_its_moves() -> None:
    env = linkage_v0.env()
    env.reset(seed=1)
    env.step(0)
    html = env.record()._repr_html_()
    assert html.startswith(env._repr_html_())
    assert "<li>W a1-b1</li>" in html


class Odd(RandomAgent):
    """A name that HTML must escape."""

    name = "<odd>"


def test_a_match_shows_its_table() -> None:
    result = play_match("linkage", Odd(), RandomAgent(), 5)
    html = result._repr_html_()
    title = "&lt;odd&gt; against random: linkage, 2 players, 10 games after 2-4 random plies"
    assert html.startswith(f"<table><caption>{title}</caption>")
    assert html.count("<tr>") == 4  # the columns, two roles and the total
    assert "<td>Fewer (seat 1)</td>" in html
    for row in result.rows()[1:]:
        assert f"<td>{row[1]}</td>" in html
    assert all(note.replace("<odd>", "&lt;odd&gt;") in html for note in result.notes())


def test_a_printed_match_is_five_lines() -> None:
    result = play_match("linkage", RandomAgent(), RandomAgent(), 5)
    first, counts, share, payoff, notes = str(result).splitlines()
    assert first == "random against random: linkage, 2 players, 10 games after 2-4 random plies"
    assert counts == f"won / drawn / lost: {result.counts()}"
    assert share == f"share in %: {result.win_share().percent()}"
    assert payoff.startswith(f"mean payoff: {result.mean_payoff().mean:+.3f} [")
    assert notes == "; ".join(result.notes())
