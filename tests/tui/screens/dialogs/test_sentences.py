from textual.app import App

from tui.screens.dialogs import SentencesDialog


async def test_sentences_are_shown_as_they_are() -> None:
    app = App[None]()
    async with app.run_test(size=(60, 20)) as pilot:
        app.push_screen(SentencesDialog("When", ("One [b]sentence[/b].", "Another one.")))
        await pilot.pause()
        dialog = app.screen
        assert isinstance(dialog, SentencesDialog)
        lines = [line.text.strip() for line in dialog._lines(40)]
        assert lines == ["One [b]sentence[/b].", "", "Another one."]
        await pilot.press("u")
        assert app.screen is not dialog
