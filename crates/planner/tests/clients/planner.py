"""An assistant's session with the planner through the official Python client: preview, apply, retry, read back.

Over HTTP (PLANNER_URL, PLANNER_TOKEN) in all three modes of the client, or through standard input and output
(PLANNER_COMMAND, a JSON list, and BERESTA_TOKEN) in both eras. Prints one JSON line per check.
"""

import asyncio
import json
import os
import sys
import uuid

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

TOOLS = [
    "preview_actions",
    "apply_actions",
    "undo_actions",
    "set_time_zone",
    "list_goals",
    "get_goal",
    "list_steps",
    "get_step",
    "list_habits",
    "get_habit",
    "get_history",
    "get_xp",
    "knowledge_search",
    "knowledge_ask",
]


def check(name, is_ok, got=None):
    print(json.dumps({"check": name, "ok": bool(is_ok), "got": None if is_ok else repr(got)}), flush=True)


async def session(client, mode):
    tools = (await client.list_tools()).tools
    names = [tool.name for tool in tools]
    check(f"{mode}: the tools in their order", names == TOOLS, names)
    check(f"{mode}: every tool says what it answers", all(tool.output_schema for tool in tools), tools)

    actions = [
        {"action": "goal.create", "client_action_id": "goal", "params": {"title": f"Learn Python ({mode})"}},
        {"action": "step.create", "client_action_id": "basics", "params": {"goal_id": "$ref:goal", "title": "The basics"}},
        {"action": "step.complete", "params": {"step_id": "$ref:basics"}},
    ]
    preview = await client.call_tool("preview_actions", {"actions": actions})
    check(f"{mode}: a preview", not preview.is_error and preview.structured_content["success"], preview)
    check(f"{mode}: text and structure are the same", json.loads(preview.content[0].text) == preview.structured_content, preview)

    heard = []

    async def on_progress(progress, total, message):
        heard.append((progress, total))

    arguments = {"preview_id": preview.structured_content["preview_id"], "idempotency_key": str(uuid.uuid4())}
    applied = await client.call_tool("apply_actions", arguments, progress_callback=on_progress)
    done = applied.structured_content
    check(f"{mode}: an apply", not applied.is_error and done["summary"]["successful"] == 3, applied)
    check(f"{mode}: the results in the order of the actions", [one["action"] for one in done["results"]] == [one["action"] for one in actions], done)
    check(f"{mode}: progress grows to its total", [one for one, _ in heard] == [1, 2, 3] and {of for _, of in heard} == {3}, heard)

    again = await client.call_tool("apply_actions", arguments)
    check(f"{mode}: a retry gets the same bytes", again.content[0].text == applied.content[0].text, again)

    goal_id = done["results"][0]["created_id"]
    goal = await client.call_tool("get_goal", {"goal_id": goal_id})
    check(f"{mode}: the goal is there", not goal.is_error and f"Learn Python ({mode})" in goal.content[0].text, goal)
    resource = await client.read_resource(f"planner://goals/{goal_id}")
    check(f"{mode}: and as a resource", f"Learn Python ({mode})" in resource.contents[0].text, resource)

    refused = await client.call_tool("get_goal", {"goal_id": 999_999_999})
    check(f"{mode}: a refusal is a result", refused.is_error and (refused.structured_content or {}).get("error") == "Goal not found", refused)


async def over_http(url, token):
    for mode in ("legacy", "auto", "2026-07-28"):
        async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=60) as http:
            async with Client(streamable_http_client(url, http_client=http), mode=mode) as client:
                await session(client, mode)


async def over_stdio(command):
    for mode in ("legacy", "2026-07-28"):
        server = StdioServerParameters(command=command[0], args=command[1:], env=dict(os.environ))
        async with Client(server, mode=mode) as client:
            await session(client, mode)


async def main():
    if command := os.environ.get("PLANNER_COMMAND"):
        await over_stdio(json.loads(command))
    else:
        await over_http(os.environ["PLANNER_URL"], os.environ["PLANNER_TOKEN"])


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
