"""What environments, records and match results show in a notebook."""

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


def test_a_match_shows_its_table() -> None:
    html = play_match("linkage", RandomAgent(), RandomAgent(), 5)._repr_html_()
    assert html.startswith("<pre>")
    assert "random against random: linkage, 10 games" in html
