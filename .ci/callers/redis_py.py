"""redis-py as its users set it up: one command, a pipeline (a transaction by default), a pool, asyncio."""

import sys

import redis

PORT = int(sys.argv[1])
CALL = ("CL.THROTTLE", "py-" + redis.__version__, 4, 5, 60)


def expect(what, found, expected):
    if found != expected:
        sys.exit("redis-py %s: %s: %r (expected: %r)" % (redis.__version__, what, found, expected))


client = redis.StrictRedis(host="127.0.0.1", port=PORT)
expect("ping", client.ping(), True)
expect("one call", client.execute_command(*CALL)[:3], [0, 5, 4])

pipeline = client.pipeline()
for _ in range(3):
    pipeline.execute_command(*CALL)
expect("a pipeline", [reply[0] for reply in pipeline.execute()], [0, 0, 0])

plain = client.pipeline(transaction=False)
plain.execute_command(*CALL)
plain.execute_command(*CALL)
expect("a pipeline that is no transaction", [reply[0] for reply in plain.execute()], [0, 1])

url = redis.StrictRedis.from_url("redis://127.0.0.1:%d/0" % PORT, decode_responses=True)
expect("database 0 by URL", url.execute_command("WEIR.CHECK", "demo", 1, "user", CALL[1])[0], 1)
try:
    client.get("x")
    sys.exit("redis-py: GET was answered (expected: an error)")
except redis.ResponseError as error:
    expect("an unknown command", "unknown command" in str(error), True)

if hasattr(client, "increx"):
    increx = [client.increx("increx", byint=2, ubound=5, ex=60, enx=True) for _ in range(3)]
    expect("INCREX", increx, [[2, 2], [4, 2], [4, 0]])

if int(redis.__version__.split(".")[0]) >= 5:
    import asyncio

    import redis.asyncio

    async def main():
        async with redis.asyncio.Redis(host="127.0.0.1", port=PORT) as other:
            key = "asyncio-" + redis.__version__
            async with other.pipeline() as pipe:
                for _ in range(2):
                    pipe.execute_command("THROTTLE", key, 2, 2, 60)
                expect("asyncio", [reply[0] for reply in await pipe.execute()], [1, 1])
            replies = await asyncio.gather(
                *(other.execute_command("THROTTLE", key, 2, 2, 60) for _ in range(5))
            )
            expect("asyncio at once", [reply[0] for reply in replies], [0] * 5)

    asyncio.run(main())
print("redis-py " + redis.__version__)
