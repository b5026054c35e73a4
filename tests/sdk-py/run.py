"""Drives the program through the Python Agent SDK and prints what it saw, a JSON object a line.

    python run.py --cli PATH --case NAME

The folder to work in, homes and the address of the model come from the environment and the
working folder. `../README.md` lists the cases; both SDKs have the same.
"""

import argparse
import asyncio
import json
import sys

import claude_agent_sdk as sdk


def saw(kind, **fields):
    print(json.dumps({"saw": kind, **fields}), flush=True)


class Teller:
    """Turns messages into lines; knows which tool each call is of."""

    def __init__(self):
        self.tools = {}

    def tell(self, message):
        if isinstance(message, sdk.ResultMessage):
            saw(
                "result",
                subtype=message.subtype,
                error=message.is_error,
                turns=message.num_turns,
                text=message.result,
                errors=message.errors,
                terminal=message.terminal_reason,
                denied=[denial["tool_name"] for denial in message.permission_denials or []],
            )
        elif isinstance(message, sdk.AssistantMessage):
            for block in message.content:
                self.tell_block(block)
            if message.error:
                saw("failed", error=message.error)
        elif isinstance(message, sdk.UserMessage):
            self.tell_user(message)
        elif isinstance(message, sdk.SystemMessage) and message.subtype == "init":
            data = message.data
            saw("init", model=data["model"], mode=data["permissionMode"], tools=len(data["tools"]))
        elif isinstance(message, sdk.SystemMessage) and message.subtype == "status":
            saw("status", mode=message.data.get("permissionMode"))

    def tell_block(self, block):
        if isinstance(block, sdk.TextBlock):
            saw("text", text=block.text)
        elif isinstance(block, sdk.ThinkingBlock):
            saw("thinking", text=block.thinking)
        elif isinstance(block, sdk.ToolUseBlock):
            self.tools[block.id] = block.name
            saw("call", tool=block.name)

    def tell_user(self, message):
        content = message.content if isinstance(message.content, list) else []
        for block in content:
            if isinstance(block, sdk.ToolResultBlock):
                saw("done", tool=self.tools[block.tool_use_id], error=bool(block.is_error))
            elif isinstance(block, sdk.TextBlock):
                saw("note", text=block.text)


def options(args, **more):
    return sdk.ClaudeAgentOptions(
        cli_path=args.cli, stderr=lambda line: saw("stderr", line=line), **more
    )


async def allow(tool, _input, _context):
    saw("ask", tool=tool)
    return sdk.PermissionResultAllow()


async def deny(tool, _input, _context):
    saw("ask", tool=tool)
    return sdk.PermissionResultDeny(message="not today")


async def prompts(*texts):
    for text in texts:
        yield {"type": "user", "message": {"role": "user", "content": text}}


async def plain(args, prompt="say hello"):
    teller = Teller()
    async for message in sdk.query(prompt=prompt, options=options(args)):
        teller.tell(message)


async def fail(args):
    await plain(args, "fail")


async def edit(args, callback=allow):
    teller = Teller()
    query = sdk.query(
        prompt=prompts("correct the greeting"), options=options(args, can_use_tool=callback)
    )
    async for message in query:
        teller.tell(message)


async def refuse(args):
    await edit(args, deny)


async def turns(args):
    async with sdk.ClaudeSDKClient(options(args)) as client:
        teller = Teller()
        for text in ["say hello", "say hello again"]:
            await client.query(text)
            async for message in client.receive_response():
                teller.tell(message)


async def interrupt(args):
    async with sdk.ClaudeSDKClient(options(args, include_partial_messages=True)) as client:
        teller = Teller()
        await client.query("count")
        async for message in client.receive_response():
            teller.tell(message)
            if is_delta(message):
                await client.interrupt()
        await client.query("say hello")
        async for message in client.receive_response():
            teller.tell(message)


def is_delta(message):
    is_event = isinstance(message, sdk.StreamEvent)
    return is_event and message.event["type"] == "content_block_delta"


async def switch(args):
    async with sdk.ClaudeSDKClient(options(args)) as client:
        teller = Teller()
        await client.set_permission_mode("plan")
        await client.set_model("other-model")
        status = await client.get_mcp_status()
        saw("servers", count=len(status["mcpServers"]))
        await client.query("say hello")
        async for message in client.receive_response():
            teller.tell(message)


async def sessions(args):
    session = None
    async for message in sdk.query(prompt="say hello", options=options(args)):
        if isinstance(message, sdk.ResultMessage):
            session = message.session_id
    async for message in sdk.query(
        prompt="say hello again", options=options(args, resume=session)
    ):
        if isinstance(message, sdk.ResultMessage):
            saw("resumed", same=message.session_id == session)
    listed = sdk.list_sessions()
    saw("listed", found=[info.session_id for info in listed] == [session])
    for message in sdk.get_session_messages(session):
        content = message.message["content"]
        text = content if isinstance(content, str) else content[0]["text"]
        saw("kept", role=message.type, text=text)


async def hooks(args):
    async def note(data, _id, _context):
        saw("hook", event=data["hook_event_name"], tool=data.get("tool_name"))
        return {}

    async def add(data, _id, _context):
        saw("hook", event=data["hook_event_name"], prompt=data["prompt"])
        more = {"hookEventName": "UserPromptSubmit", "additionalContext": "Keep the greeting polite."}
        return {"hookSpecificOutput": more}

    def decide(decision):
        async def hook(data, _id, _context):
            saw("hook", event=data["hook_event_name"], tool=data["tool_name"], decision=decision)
            answer = {"permissionDecision": decision, "permissionDecisionReason": "says the host"}
            return {"hookSpecificOutput": {"hookEventName": "PreToolUse", **answer}}

        return hook

    hooks = {
        "UserPromptSubmit": [sdk.HookMatcher(hooks=[add])],
        "PreToolUse": [
            sdk.HookMatcher(matcher="Edit|Write", hooks=[decide("allow")]),
            sdk.HookMatcher(matcher="Bash", hooks=[decide("deny")]),
        ],
        "PostToolUse": [sdk.HookMatcher(matcher="Edit", hooks=[note])],
        "Stop": [sdk.HookMatcher(hooks=[note])],
    }
    teller = Teller()
    async with sdk.ClaudeSDKClient(options(args, hooks=hooks)) as client:
        await client.query("correct the greeting")
        async for message in client.receive_response():
            teller.tell(message)


async def blocked(args):
    async def block(_data, _id, _context):
        return {"decision": "block", "reason": "no secrets"}

    hooks = {"UserPromptSubmit": [sdk.HookMatcher(hooks=[block])]}
    teller = Teller()
    async with sdk.ClaudeSDKClient(options(args, hooks=hooks)) as client:
        await client.query("say hello")
        async for message in client.receive_response():
            teller.tell(message)


CASES = [plain, fail, edit, refuse, turns, interrupt, switch, sessions, hooks, blocked]


def main():
    cases = {case.__name__: case for case in CASES}
    parser = argparse.ArgumentParser(description="Drives the program through the Python Agent SDK.")
    parser.add_argument("--cli", required=True, help="the program")
    parser.add_argument("--case", required=True, choices=cases)
    args = parser.parse_args()
    try:
        asyncio.run(cases[args.case](args))
    except Exception as error:  # the SDK's own errors are what some cases want to see
        saw("raised", text=str(error))
    saw("end")


if __name__ == "__main__":
    sys.exit(main())
