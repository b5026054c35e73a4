// Asks for a change through the TypeScript Agent SDK and allows what is asked.
//
//   node edit.mjs PATH_TO_OSTLER PROMPT
//
// Prints the trace of the run, one line a step, in the words of the other doors' tests.
import { query } from "@anthropic-ai/claude-agent-sdk";

const [cli, prompt] = process.argv.slice(2);
const tools = new Map();

function say(line) {
  process.stdout.write(`${line}\n`);
}

const run = query({
  prompt,
  options: {
    pathToClaudeCodeExecutable: cli,
    stderr: (line) => say(`stderr ${line}`),
    canUseTool: async (tool, input) => {
      say(`ask ${tool}`);
      say("allow");
      return { behavior: "allow", updatedInput: input };
    },
  },
});

for await (const message of run) {
  if (message.type === "assistant") {
    for (const block of message.message.content) {
      if (block.type === "text") say(`text ${block.text}`);
      if (block.type === "thinking") say(`thinking ${block.thinking}`);
      if (block.type === "tool_use") tools.set(block.id, block.name);
    }
  } else if (message.type === "user" && Array.isArray(message.message.content)) {
    for (const block of message.message.content) {
      if (block.type === "tool_result") {
        say(`result ${tools.get(block.tool_use_id)} ${block.is_error ? "false" : "true"}`);
      }
    }
  } else if (message.type === "result") {
    say(message.is_error ? `failed ${message.result}` : "end");
  }
}
