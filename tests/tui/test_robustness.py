from tests.tui.replays import replay


async def test_steps() -> None:
    async with replay("lublin-128", "easy") as run:
        await run.press("right", "right", "right")
        assert run.step == 3
        await run.complete()
        print(run.text)
