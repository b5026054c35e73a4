"""Asks for a change through the Python Agent SDK and allows what is asked.

    python edit.py PATH_TO_OSTLER PROMPT

Prints the trace of the run, one line a step, in the words of the other doors' tests.
"""

import sys

import anyio
from claude_agent_sdk import (
    AssistantMessage,
    ClaudeAgentOptions,
    ClaudeSDKClient,
    PermissionResultAllow,
    ResultMessage,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
    UserMessage,
)


def say(line: str) -> None:
    print(line, flush=True)


async def allow(tool, arguments, _context):
    say(f"ask {tool}")
    say("allow")
    return PermissionResultAllow(updated_input=arguments)


async def main(cli: str, prompt: str) -> None:
    errors: list[str] = []
    options = ClaudeAgentOptions(cli_path=cli, can_use_tool=allow, stderr=errors.append)
    tools: dict[str, str] = {}
    async with ClaudeSDKClient(options) as client:
        await client.query(prompt)
        async for message in client.receive_response():
            if isinstance(message, AssistantMessage):
                for block in message.content:
                    if isinstance(block, TextBlock):
                        say(f"text {block.text}")
                    elif isinstance(block, ThinkingBlock):
                        say(f"thinking {block.thinking}")
                    elif isinstance(block, ToolUseBlock):
                        tools[block.id] = block.name
            elif isinstance(message, UserMessage) and not isinstance(message.content, str):
                for block in message.content:
                    if isinstance(block, ToolResultBlock):
                        ok = "false" if block.is_error else "true"
                        say(f"result {tools[block.tool_use_id]} {ok}")
            elif isinstance(message, ResultMessage):
                say("end" if not message.is_error else f"failed {message.result}")
    for line in errors:
        say(f"stderr {line}")


anyio.run(main, sys.argv[1], sys.argv[2])
