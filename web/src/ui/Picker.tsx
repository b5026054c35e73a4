// A list to choose from, with a field that narrows it: commands, sessions, modes, models. A native
// dialog keeps the focus inside and gives it back; arrows move, Enter takes, Esc closes.
import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from "react";
import { texts } from "./texts";

export interface Choice {
  id: string;
  title: string;
  detail?: string;
  mark?: ReactNode;
  chosen?: boolean;
  disabled?: boolean;
  danger?: boolean;
}

interface PickerProps {
  title: string;
  placeholder?: string;
  choices: Choice[];
  empty?: string;
  onChoose(id: string): void;
  onClose(): void;
}

export function Picker({ title, placeholder, choices, empty, onChoose, onClose }: PickerProps) {
  const [text, setText] = useState("");
  const [at, setAt] = useState(() =>
    Math.max(
      0,
      choices.findIndex((choice) => choice.chosen),
    ),
  );
  const list = useId();
  const wanted = text.trim().toLowerCase();
  const shown = choices.filter((choice) =>
    `${choice.title} ${choice.detail ?? ""}`.toLowerCase().includes(wanted),
  );
  const here = Math.min(at, shown.length - 1);
  const take = (choice: Choice | undefined) => {
    if (choice && !choice.disabled) onChoose(choice.id);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    const moves: Record<string, number> = {
      ArrowDown: (here + 1) % shown.length,
      ArrowUp: (here - 1 + shown.length) % shown.length,
    };
    const to = moves[event.key];
    if (event.key === "Enter") take(shown[here]);
    else if (to !== undefined && shown.length > 0) setAt(to);
    else return;
    event.preventDefault();
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <input
        role="combobox"
        aria-expanded="true"
        aria-controls={list}
        aria-activedescendant={shown[here] ? `${list}-${here}` : undefined}
        aria-label={title}
        placeholder={placeholder ?? title}
        className="w-full border-line border-b bg-transparent px-4 py-3 outline-none"
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setAt(0);
        }}
        onKeyDown={onKeyDown}
        autoFocus
      />
      <div
        id={list}
        role="listbox"
        aria-label={title}
        className="max-h-[50vh] overflow-y-auto p-1.5"
      >
        {shown.map((choice, index) => (
          <Option
            key={choice.id}
            id={`${list}-${index}`}
            choice={choice}
            here={index === here}
            onTake={() => take(choice)}
          />
        ))}
        {shown.length === 0 && (
          <p className="px-2.5 py-2 text-muted">{empty ?? texts.palette.none}</p>
        )}
      </div>
    </Dialog>
  );
}

function Option(props: { id: string; choice: Choice; here: boolean; onTake(): void }) {
  const { choice, here } = props;
  const ref = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (here) ref.current?.scrollIntoView?.({ block: "nearest" });
  }, [here]);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the keys of a listbox act in its combobox
    // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in its combobox
    <div
      ref={ref}
      id={props.id}
      role="option"
      aria-selected={here}
      aria-disabled={choice.disabled}
      className={`flex items-baseline gap-3 rounded-small px-2.5 py-1.5 max-wide:py-2.5 ${here ? "bg-hover" : ""} ${choice.disabled ? "opacity-50" : ""}`}
      onClick={props.onTake}
    >
      <span
        className={`shrink-0 ${choice.detail ? "wide:min-w-28" : ""} ${choice.danger ? "text-danger" : ""} ${choice.chosen ? "font-semibold" : ""}`}
      >
        {choice.title}
      </span>
      <span className="min-w-0 flex-1 text-muted text-xs">{choice.detail}</span>
      {choice.mark && (
        <span className="shrink-0 self-center text-muted text-xs">{choice.mark}</span>
      )}
    </div>
  );
}

export function Dialog(props: { title: string; onClose(): void; children: ReactNode }) {
  const ref = useRef<HTMLDialogElement>(null);
  const close = useRef(props.onClose);
  close.current = props.onClose;
  useEffect(() => {
    const dialog = ref.current;
    const before = document.activeElement;
    if (dialog?.showModal && !dialog.open) dialog.showModal();
    else dialog?.setAttribute("open", "");
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: a click beside the dialog closes it; the key is Esc
    <dialog
      ref={ref}
      aria-label={props.title}
      className="fade-in mx-auto mt-[12vh] w-[min(36rem,calc(100vw-1.5rem))] overflow-hidden rounded-base border border-line bg-raised p-0 text-text"
      style={{ boxShadow: "var(--float)" }}
      onCancel={(event) => {
        event.preventDefault();
        close.current();
      }}
      onClick={(event) => {
        if (event.target === ref.current) close.current();
      }}
    >
      {props.children}
    </dialog>
  );
}
