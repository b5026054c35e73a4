// What goes on beside the conversation: the to-do list, and commands in the background.
import { useEffect, useState } from "react";
import { stopTask, taskOutput } from "../../actions/tasks";
import type { BackgroundTask, Todo } from "../../protocol";
import { Button } from "../../ui/Button";
import { texts } from "../../ui/texts";
import { useApp, useOpenThread, useView } from "../context";

const NO_TODOS: Todo[] = [];
const NO_TASKS: BackgroundTask[] = [];
const SIGNS = { pending: "\u25cb", in_progress: "\u25d0", completed: "\u25cf" } as const;

export function Work() {
  const todos = useOpenThread((thread) => thread?.todos ?? NO_TODOS);
  const tasks = useOpenThread((thread) => thread?.tasks ?? NO_TASKS);
  const sessionId = useView((view) => view.sessionId);
  const running = tasks.filter((task) => task.state === "running");
  if (sessionId === null || (todos.length === 0 && running.length === 0)) return null;
  return (
    <section
      aria-label={texts.work.label}
      className="page-pad flex max-h-[30dvh] shrink-0 flex-col gap-1 overflow-y-auto border-line border-t py-1 text-xs"
    >
      {todos.length > 0 && <Todos todos={todos} />}
      {running.map((task) => (
        <Task key={task.id} task={task} sessionId={sessionId} />
      ))}
    </section>
  );
}

function Todos({ todos }: { todos: Todo[] }) {
  const done = todos.filter((todo) => todo.status === "completed").length;
  return (
    <details>
      <summary className="cursor-pointer text-muted">
        {texts.work.todos(done, todos.length)}
      </summary>
      <ul className="pt-1">
        {todos.map((todo) => (
          <li key={todo.content} className={todo.status === "completed" ? "text-muted" : ""}>
            <span aria-hidden="true">{SIGNS[todo.status]} </span>
            <span className="sr-only">{texts.work.todo[todo.status]}: </span>
            {todo.status === "in_progress" ? todo.activeForm || todo.content : todo.content}
          </li>
        ))}
      </ul>
    </details>
  );
}

function Task({ task, sessionId }: { task: BackgroundTask; sessionId: string }) {
  const app = useApp();
  const [open, setOpen] = useState(false);
  const [output, setOutput] = useState("");
  useEffect(() => {
    if (!open) return;
    let gone = false;
    // An output that cannot be read shows as none; the task itself goes on.
    taskOutput(app, sessionId, task.id).then(
      (text) => gone || setOutput(text),
      () => gone || setOutput(""),
    );
    return () => {
      gone = true;
    };
  }, [app, open, sessionId, task.id]);
  return (
    <div>
      <div className="flex items-center gap-2">
        <span className="min-w-0 flex-1 truncate" title={task.command ?? task.title}>
          {task.title}
        </span>
        <Button small aria-expanded={open} onClick={() => setOpen(!open)}>
          {open ? texts.work.hide : texts.work.show}
        </Button>
        <Button small look="line" onClick={() => void stopTask(app, sessionId, task.id)}>
          {texts.work.stop}
        </Button>
      </div>
      {open && (
        <pre className="max-h-40 overflow-auto whitespace-pre-wrap pt-1">
          {output === "" ? texts.work.noOutput : output}
        </pre>
      )}
    </div>
  );
}
