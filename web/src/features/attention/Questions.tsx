// The card that asks questions or shows a plan. Like the bar that asks for permission it stands
// between transcript and composer, covers nothing and takes no focus by itself.
import { lazy, Suspense, useId, useState } from "react";
import {
  answerQuestions,
  choose,
  decidePlan,
  isAnswered,
  type Pick,
  skipQuestions,
} from "../../actions/answer-question";
import { leaveAttention } from "../../actions/jump-attention";
import type { QuestionAsked, QuestionSpec } from "../../protocol";
import type { Failure } from "../../store/state";
import { Button } from "../../ui/Button";
import { StateSign } from "../../ui/StateSign";
import { failureText, texts } from "../../ui/texts";
import { useApp, useOpenThread } from "../context";

const Markdown = lazy(() => import("../thread/markdown/Markdown"));

const NONE: QuestionAsked[] = [];

export function Questions() {
  const open = useOpenThread((thread) => thread?.questions ?? NONE);
  const question = open[0];
  const first = question?.questions[0]?.question ?? texts.questions.plan;
  return (
    <>
      <p aria-live="assertive" className="sr-only">
        {question ? texts.questions.announce(first) : ""}
      </p>
      {question && <Card key={question.requestId} question={question} />}
    </>
  );
}

function Card({ question }: { question: QuestionAsked }) {
  const [failure, setFailure] = useState<Failure | null>(null);
  const [sending, setSending] = useState(false);
  const plan = question.kind === "plan";
  const run = (work: () => Promise<Failure | null>) => {
    setSending(true);
    void work().then((failed) => {
      setFailure(failed);
      setSending(false);
    });
  };
  return (
    <section
      id="questions"
      tabIndex={-1}
      aria-label={plan ? texts.questions.plan : texts.questions.title}
      className="fade-in flex max-h-[60dvh] shrink-0 flex-col border-attention border-t-2 bg-attention-tint outline-none"
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.stopPropagation();
        leaveAttention();
      }}
    >
      <div className="page-pad flex items-center gap-2 pt-2 pb-1.5 text-sm">
        <StateSign state="needsYou" />
        <h2 tabIndex={-1} data-focus-first className="font-semibold outline-offset-2">
          {plan ? texts.questions.plan : texts.questions.title}
        </h2>
      </div>
      {plan ? (
        <Plan question={question} sending={sending} run={run} />
      ) : (
        <Form question={question} sending={sending} run={run} />
      )}
      {failure && (
        <p role="alert" className="page-pad pb-2 text-danger text-xs">
          {failureText(failure)}
        </p>
      )}
    </section>
  );
}

interface Asked {
  question: QuestionAsked;
  sending: boolean;
  run: (work: () => Promise<Failure | null>) => void;
}

function Form({ question, sending, run }: Asked) {
  const app = useApp();
  const [picks, setPicks] = useState<Pick[]>(() =>
    question.questions.map(() => ({ labels: [], text: "" })),
  );
  const ready = picks.every(isAnswered);
  const set = (at: number, pick: Pick) =>
    setPicks((old) => old.map((other, index) => (index === at ? pick : other)));
  return (
    <form
      className="flex min-h-0 flex-col"
      onSubmit={(event) => {
        event.preventDefault();
        if (ready && !sending) run(() => answerQuestions(app, question, picks));
      }}
    >
      <div className="page-pad flex min-h-0 flex-col gap-3 overflow-y-auto pb-2">
        {question.questions.map((spec, at) => (
          <One
            key={spec.question}
            spec={spec}
            pick={picks[at] ?? { labels: [], text: "" }}
            set={(pick) => set(at, pick)}
          />
        ))}
      </div>
      <div className="page-pad flex flex-wrap gap-1.5 pb-2.5">
        <Button look="primary" type="submit" disabled={!ready || sending}>
          {texts.questions.answer}
        </Button>
        <Button
          look="line"
          disabled={sending}
          onClick={() => run(() => skipQuestions(app, question))}
        >
          {texts.questions.skip}
        </Button>
      </div>
    </form>
  );
}

function One({ spec, pick, set }: { spec: QuestionSpec; pick: Pick; set: (pick: Pick) => void }) {
  const name = useId();
  const several = spec.multiple ?? false;
  return (
    <fieldset className="flex flex-col gap-1">
      <legend className="pb-1 text-sm">
        {spec.header && <span className="pr-2 text-muted text-xs">{spec.header}</span>}
        {spec.question}
      </legend>
      {spec.options.map((option) => (
        <label
          key={option.label}
          className="flex items-start gap-2 rounded-base px-1.5 py-1 text-sm hover:bg-hover max-wide:min-h-11"
        >
          <input
            type={several ? "checkbox" : "radio"}
            name={name}
            className="mt-1"
            checked={pick.labels.includes(option.label)}
            onChange={() => set(choose(pick, option.label, several))}
          />
          <span className="min-w-0">
            {option.label}
            {option.description && (
              <span className="block text-muted text-xs">{option.description}</span>
            )}
            {option.preview && (
              <pre className="max-h-40 overflow-auto whitespace-pre-wrap text-xs">
                {option.preview}
              </pre>
            )}
          </span>
        </label>
      ))}
      {spec.custom && (
        <input
          aria-label={texts.questions.other}
          placeholder={texts.questions.other}
          maxLength={2000}
          className="h-7 rounded-base border border-line bg-surface px-2 text-sm max-wide:h-11"
          value={pick.text}
          onChange={(event) => set({ ...pick, text: event.target.value })}
        />
      )}
    </fieldset>
  );
}

function Plan({ question, sending, run }: Asked) {
  const app = useApp();
  const [reason, setReason] = useState("");
  const allowed = question.allowed ?? [];
  const edits = question.modes?.includes("acceptEdits") ?? false;
  const keep = () => run(() => decidePlan(app, question, { approved: false, reason }));
  return (
    <>
      <div className="page-pad min-h-0 overflow-y-auto pb-2">
        <Suspense fallback={<p className="whitespace-pre-wrap">{question.plan}</p>}>
          <Markdown text={question.plan || texts.questions.emptyPlan} done />
        </Suspense>
        {allowed.length > 0 && (
          <>
            <p className="pt-2 text-muted text-xs">{texts.questions.wants}</p>
            <ul className="list-disc pl-5 text-sm">
              {allowed.map(({ tool, text }) => (
                <li key={`${tool} ${text}`}>
                  {tool}: {text}
                </li>
              ))}
            </ul>
          </>
        )}
      </div>
      <div className="page-pad flex flex-wrap items-center gap-1.5 pb-2.5">
        <Button
          look="primary"
          disabled={sending}
          onClick={() => run(() => decidePlan(app, question, { approved: true, mode: "default" }))}
        >
          {texts.questions.approve}
        </Button>
        {edits && (
          <Button
            look="line"
            disabled={sending}
            onClick={() =>
              run(() => decidePlan(app, question, { approved: true, mode: "acceptEdits" }))
            }
          >
            {texts.questions.approveEdits}
          </Button>
        )}
        <Button look="line" disabled={sending} onClick={keep}>
          {texts.questions.reject}
        </Button>
        <input
          aria-label={texts.questions.reason}
          placeholder={texts.questions.reason}
          maxLength={2000}
          className="h-8 min-w-32 flex-1 rounded-base border border-line bg-surface px-2 text-sm max-wide:h-11 max-wide:basis-full"
          value={reason}
          onChange={(event) => setReason(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === "Enter" && !event.nativeEvent.isComposing && !sending) keep();
          }}
        />
      </div>
    </>
  );
}
