"""What the client scripts share: one JSON line per check, the control plane, a picture."""

import json
import os
import sys
import urllib.request

BASE = os.environ["SIMULATORS_URL"]

# One pixel, valid for every decoder.
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
    "1f15c4890000000d49444154789c63f8ffff3f0005fe02fedccc59e70000000049454e44ae426082"
)


def report(name, ok, detail=None):
    line = {"check": name, "ok": bool(ok)}
    if not ok:
        line["detail"] = repr(detail)
    print(json.dumps(line), flush=True)


async def check(name, awaitable, judge):
    """Awaits a call that must succeed and lets `judge` look at the result."""
    try:
        result = await awaitable
        report(name, judge(result), result)
        return result
    except Exception as error:  # noqa: BLE001: any failure is a failed check
        report(name, False, error)
        return None


async def check_error(name, awaitable, kind, judge=lambda error: True):
    """Awaits a call that must fail with an exception of that kind."""
    try:
        result = await awaitable
        report(name, False, result)
    except kind as error:
        report(name, judge(error), error)
    except Exception as error:  # noqa: BLE001
        report(name, False, error)


def control(path, body):
    # The simulator is on this machine: no proxy of the environment may stand between.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    request = urllib.request.Request(
        f"{BASE}/control/{path}",
        data=json.dumps(body).encode(),
        headers={"content-type": "application/json"},
        method="POST",
    )
    with opener.open(request) as response:
        return json.load(response)


if __name__ == "__main__":
    sys.exit("a module of the client scripts, not a script")
