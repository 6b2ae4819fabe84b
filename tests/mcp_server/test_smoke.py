from tests.fakes.sample import Sample
from tests.mcp_server.host import hosting


async def test_x(sample: Sample) -> None:
    async with hosting(sample) as host:
        await host.begin("Nobody is on call before the start", "S")
        action = await host.drive(await host.next())
        assert action["type"] == "checkpoint"
        action = await host.drive(await host.next(user_response="approve"))
        assert action["type"] == "done"
        assert host.git("status", "--porcelain") == ""
