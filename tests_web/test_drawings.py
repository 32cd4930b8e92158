"""The games' drawings in a real browser: sizes on a narrow screen, and colours in the dark."""

import re
from typing import Any

import pytest
from playwright.sync_api import Browser
from tests.driving import first_quick

from linkzoo import get_game
from linkzoo.registry import NAMES
from linkzoo.testing.play import positions

MEASURED = """() => {
  const svg = document.querySelector("svg");
  const size = (text) => {
    const to = text.getScreenCTM();
    return Number(text.getAttribute("font-size")) * Math.hypot(to.a, to.b);
  };
  const box = (one) => one.getBoundingClientRect();
  const boxesOf = (what) => [...svg.querySelectorAll(what)].map(box);
  const [boxes, words] = [boxesOf("[data-part]"), boxesOf("text")];
  return {
    letters: Math.min(...[...svg.querySelectorAll("text")].map(size)),
    targets: Math.min(...boxes.map((box) => Math.min(box.width, box.height))),
    left: Math.min(...words.map((box) => box.left)),
    right: Math.max(...words.map((box) => box.right)),
  };
}"""


def shown(browser: Browser, svg: str, script: str, **context: Any) -> Any:
    page = browser.new_page(**context)
    inline = re.sub(r' width="[\d.]+" height="[\d.]+"', "", svg, count=1)
    style = "html{color-scheme:light dark}body{margin:0}svg{display:block;width:100%}"
    page.set_content(f"<style>{style}</style>{inline}")
    found = page.evaluate(script)
    page.close()
    return found


@pytest.mark.nightly  # CI: a telephone has letters and targets
@pytest.mark.parametrize("name", first_quick(NAMES[::-1], slow=0))
def test_a_narrow_screen_shows_large_letters_and_targets(browser: Browser, name: str) -> None:
    """On 320 pixels letters have 11, what can be selected 24, and nothing leaves the screen."""
    game = get_game(name)
    for players in game.players:
        played = positions(game, players, {}, 3)
        for state in played[:: max(len(played) // 3, 1)]:
            svg = game.draw_tall(state, max(int(state.seat), 0))
            found = shown(browser, svg, MEASURED, viewport={"width": 320, "height": 600})
            assert found["letters"] >= 11
            assert found["targets"] >= 24
            assert found["left"] >= 0
            assert found["right"] <= 320.5


@pytest.mark.parametrize("name", first_quick(NAMES, slow=0))
def test_drawings_follow_the_scheme_of_the_page(browser: Browser, name: str) -> None:
    """The ground is bright by day and dark by night, and letters on it the other way round."""
    game = get_game(name)
    svg = game.draw_svg(positions(game, game.min_players, {}, 3)[0])
    script = """() => {
      const svg = document.querySelector("svg");
      const title = svg.querySelector("title").textContent.split(":")[0];
      const heading = [...svg.querySelectorAll("text")].find((text) => text.textContent === title);
      const light = (one) => getComputedStyle(one).fill.match(/[0-9]+/g).slice(0, 3).map(Number);
      return [svg.querySelector(":scope > rect"), heading].map((one) => Math.max(...light(one)));
    }"""
    ground, letters = shown(browser, svg, script, color_scheme="light")
    assert ground > 200
    assert letters < 100
    ground, letters = shown(browser, svg, script, color_scheme="dark")
    assert ground < 60
    assert letters > 200
