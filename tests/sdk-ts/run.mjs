// Drives the program through the TypeScript Agent SDK and prints what it saw, a JSON object
// a line:
//
//     node run.mjs --cli PATH --case NAME
//
// The folder to work in, homes and the address of the model come from the environment and
// the working folder. `../README.md` lists the cases; both SDKs have the same.

import { parseArgs } from "node:util";

import { getSessionMessages, listSessions, query } from "@anthropic-ai/claude-agent-sdk";

const { values: args } = parseArgs({ options: { cli: { type: "string" }, case: { type: "string" } } });

function saw(kind, fields = {}) {
  process.stdout.write(`${JSON.stringify({ saw: kind, ...fields })}\n`);
}

function options(more = {}) {
  const stderr = (line) => saw("stderr", { line });
  return { pathToClaudeCodeExecutable: args.cli, stderr, ...more };
}

/** Turns messages into lines; knows which tool each call is of. */
class Teller {
  tools = new Map();

  tell(message) {
    switch (message.type) {
      case "result":
        return saw("result", {
          subtype: message.subtype,
          error: message.is_error,
          turns: message.num_turns,
          text: message.result ?? null,
          errors: message.errors ?? null,
          terminal: message.terminal_reason,
          denied: message.permission_denials.map((denial) => denial.tool_name),
        });
      case "assistant":
        for (const block of message.message.content) this.tellBlock(block);
        return message.error && saw("failed", { error: message.error });
      case "user":
        for (const block of message.message.content) this.tellUser(block);
        return undefined;
      case "system":
        return this.tellSystem(message);
      default:
        return undefined;
    }
  }

  tellBlock(block) {
    if (block.type === "text") saw("text", { text: block.text });
    if (block.type === "thinking") saw("thinking", { text: block.thinking });
    if (block.type === "tool_use") {
      this.tools.set(block.id, block.name);
      saw("call", { tool: block.name });
    }
  }

  tellUser(block) {
    if (block.type === "text") saw("note", { text: block.text });
    if (block.type === "tool_result") {
      saw("done", { tool: this.tools.get(block.tool_use_id), error: Boolean(block.is_error) });
    }
  }

  tellSystem(message) {
    if (message.subtype === "init") {
      saw("init", { model: message.model, mode: message.permissionMode, tools: message.tools.length });
    }
    if (message.subtype === "status") saw("status", { mode: message.permissionMode });
  }
}

async function tellAll(messages) {
  const teller = new Teller();
  for await (const message of messages) teller.tell(message);
}

async function allow(tool, input) {
  saw("ask", { tool });
  return { behavior: "allow", updatedInput: input };
}

async function deny(tool) {
  saw("ask", { tool });
  return { behavior: "deny", message: "not today" };
}

function user(text) {
  return { type: "user", message: { role: "user", content: text }, parent_tool_use_id: null };
}

/** Prompts, each sent when the one before has its result. */
class Conversation {
  waiting = [];
  wake = () => {};
  ended = false;

  send(text) {
    this.waiting.push(user(text));
    this.wake();
  }

  end() {
    this.ended = true;
    this.wake();
  }

  async *[Symbol.asyncIterator]() {
    for (;;) {
      while (this.waiting.length > 0) yield this.waiting.shift();
      if (this.ended) return;
      await new Promise((resolve) => (this.wake = resolve));
    }
  }
}

/** Sends the texts in turn; `onMessage` sees each message with the query. */
async function converse(texts, more, onMessage = () => {}) {
  const conversation = new Conversation();
  const left = [...texts];
  conversation.send(left.shift());
  const messages = query({ prompt: conversation, options: options(more) });
  const teller = new Teller();
  for await (const message of messages) {
    teller.tell(message);
    await onMessage(message, messages);
    if (message.type !== "result") continue;
    if (left.length > 0) conversation.send(left.shift());
    else conversation.end();
  }
}

const ask = (prompt, more) => query({ prompt, options: options(more) });

const cases = {
  plain: () => tellAll(ask("say hello")),
  fail: () => tellAll(ask("fail")),
  edit: () => tellAll(ask("correct the greeting", { canUseTool: allow })),
  refuse: () => tellAll(ask("correct the greeting", { canUseTool: deny })),
  turns: () => converse(["say hello", "say hello again"], {}),
  interrupt: () =>
    converse(["count", "say hello"], { includePartialMessages: true }, async (message, messages) => {
      const isDelta = message.type === "stream_event" && message.event.type === "content_block_delta";
      if (isDelta && message.event.delta.text.includes("One")) await messages.interrupt();
    }),
  async switch() {
    const conversation = new Conversation();
    const messages = query({ prompt: conversation, options: options() });
    await messages.setPermissionMode("plan");
    await messages.setModel("other-model");
    const servers = await messages.mcpServerStatus();
    saw("servers", { count: servers.length });
    conversation.send("say hello");
    const teller = new Teller();
    for await (const message of messages) {
      teller.tell(message);
      if (message.type === "result") conversation.end();
    }
  },
  async sessions() {
    let session;
    for await (const message of ask("say hello")) {
      if (message.type === "result") session = message.session_id;
    }
    for await (const message of ask("say hello again", { resume: session })) {
      if (message.type === "result") saw("resumed", { same: message.session_id === session });
    }
    const listed = await listSessions();
    saw("listed", { found: listed.length === 1 && listed[0].sessionId === session });
    for (const message of await getSessionMessages(session)) {
      const { content } = message.message;
      const text = typeof content === "string" ? content : content[0].text;
      saw("kept", { role: message.type, text });
    }
  },
  hooks: () => {
    const note = async (data) => {
      saw("hook", { event: data.hook_event_name, tool: data.tool_name ?? null });
      return {};
    };
    const add = async (data) => {
      saw("hook", { event: data.hook_event_name, prompt: data.prompt });
      const more = { hookEventName: "UserPromptSubmit", additionalContext: "Keep the greeting polite." };
      return { hookSpecificOutput: more };
    };
    const decide = (decision) => async (data) => {
      saw("hook", { event: data.hook_event_name, tool: data.tool_name, decision });
      const answer = { permissionDecision: decision, permissionDecisionReason: "says the host" };
      return { hookSpecificOutput: { hookEventName: "PreToolUse", ...answer } };
    };
    const hooks = {
      UserPromptSubmit: [{ hooks: [add] }],
      PreToolUse: [
        { matcher: "Edit|Write", hooks: [decide("allow")] },
        { matcher: "Bash", hooks: [decide("deny")] },
      ],
      PostToolUse: [{ matcher: "Edit", hooks: [note] }],
      Stop: [{ hooks: [note] }],
    };
    return converse(["correct the greeting"], { hooks });
  },
  blocked: () => {
    const block = async () => ({ decision: "block", reason: "no secrets" });
    return converse(["say hello"], { hooks: { UserPromptSubmit: [{ hooks: [block] }] } });
  },
};

const run = cases[args.case];
if (!args.cli || !run) {
  process.stderr.write(`usage: node run.mjs --cli PATH --case ${Object.keys(cases).join("|")}\n`);
  process.exit(2);
}
try {
  await run();
} catch (error) {
  saw("raised", { text: error.message });
}
saw("end");
