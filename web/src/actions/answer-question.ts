// Answers to questions and plans. Answered elsewhere is no error: the card just goes.
import { CODE, RpcError } from "../client";
import type { QuestionAsked } from "../protocol";
import type { Failure } from "../store/state";
import { failure } from "../store/sync";
import type { App } from "./app";

/** What a person picked for one question. */
export interface Pick {
  labels: string[];
  text: string;
}

/** Whether a pick says anything. */
export function isAnswered(pick: Pick): boolean {
  return pick.labels.length > 0 || pick.text.trim() !== "";
}

/** Chooses an option; where only one can be chosen the others go. */
export function choose(pick: Pick, label: string, several: boolean): Pick {
  if (!several) return { ...pick, labels: [label] };
  const has = pick.labels.includes(label);
  return {
    ...pick,
    labels: has ? pick.labels.filter((other) => other !== label) : [...pick.labels, label],
  };
}

export function answerQuestions(app: App, question: QuestionAsked, picks: Pick[]) {
  return send(app, question, "question.answer", {
    requestId: question.requestId,
    picks: picks.map(({ labels, text }) =>
      text.trim() === "" ? { labels } : { labels, text: text.trim().slice(0, 2_000) },
    ),
  });
}

export function decidePlan(
  app: App,
  question: QuestionAsked,
  decision: { approved: boolean; mode?: "default" | "acceptEdits"; reason?: string },
) {
  const { approved, mode, reason } = decision;
  return send(app, question, "question.answer", {
    requestId: question.requestId,
    approved,
    ...(mode ? { mode } : {}),
    ...(reason && reason.trim() !== "" ? { reason: reason.trim().slice(0, 2_000) } : {}),
  });
}

export function skipQuestions(app: App, question: QuestionAsked) {
  return send(app, question, "question.reject", { requestId: question.requestId });
}

async function send(
  app: App,
  question: QuestionAsked,
  method: "question.answer" | "question.reject",
  params: Parameters<App["client"]["call"]>[1],
): Promise<Failure | null> {
  try {
    await app.client.call(method, params as never);
  } catch (error) {
    const code = error instanceof RpcError ? error.code : 0;
    if (code !== CODE.alreadyResolved) return failure(error);
  }
  app.store.dispatch({ kind: "requestGone", requestId: question.requestId });
  return null;
}
