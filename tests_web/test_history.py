"""The history: games of this browser, with results, replays, export and import."""

from pathlib import Path

from tests_web.conftest import Screen


def test_games_are_listed_replayed_exported_and_imported(screen: Screen, tmp_path: Path) -> None:
    page = screen.page
    screen.start("linkage", ["human", "random"], names=["Ada"])
    for _ in range(2):  # the first click asks
        page.get_by_role("button", name="Resign").click()
    page.get_by_role("button", name="Rematch").click()
    page.wait_for_selector(".board .lit")
    page.get_by_role("link", name="History").click()
    page.wait_for_selector(".history li >> nth=1")
    assert page.locator(".history strong").all_inner_texts() == [
        "not over",
        "lost (player 0 resigned)",
    ]
    with page.expect_download() as downloaded:
        page.get_by_role("button", name="Export all").click()
    file = tmp_path / "games.json"
    downloaded.value.save_as(file)
    page.set_input_files("#history-file", file)
    page.get_by_role("button", name="Import").click()
    page.wait_for_selector(".history li >> nth=3")
    assert "Ada" in page.inner_text(".history li >> nth=0")
    page.get_by_role("button", name="Replay").last.click()
    page.wait_for_selector(".replayer .board svg")
    page.go_back()
    page.get_by_role("link", name="Continue").last.click()
    page.wait_for_selector(".board .lit")
