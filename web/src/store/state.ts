// What the page knows of its host. Only `reduce` makes a new one; no part of it is a view's own.
import type {
  BackgroundTask,
  DoneReason,
  FileDiff,
  HostInfoResult,
  KnownEvent,
  NoticeLevel,
  PermissionAsked,
  ProjectRow,
  ProjectsTrustReportResult,
  PromptImage,
  QuestionAsked,
  QueuedMessage,
  Role,
  SessionId,
  SessionMeta,
  SessionRow,
  Todo,
} from "../protocol";

/** `session.list` promises the facts; what a session is doing comes with its events. */
export type Row = SessionMeta & Partial<SessionRow>;

export type Line = "connecting" | "live" | "reconnecting" | "locked";

export interface Failure {
  message: string;
  kind: string | null;
  hint: string | null;
}

export interface WordsPart {
  kind: "text" | "thinking";
  key: string;
  /** The block's position in the provider response, results not counted. */
  block: number;
  text: string;
  /** The ordinal of the next delta; `null` once the text is final. */
  next: number | null;
}

export interface ToolPart {
  kind: "tool";
  key: string;
  id: string;
  name: string;
  title: string;
  args: Record<string, unknown>;
  startedAt: number | null;
  elapsedMs: number | null;
  tail: string;
  result: ToolResult | null;
  diff: FileDiff[] | null;
}

export interface ToolResult {
  content: string;
  ok: boolean;
  ms: number | null;
  deniedBy: string | null;
  /** Length of the whole in bytes, if the content was cut for the wire. */
  total: number | null;
}

export interface ImagePart {
  kind: "image";
  key: string;
  mediaType: string;
  data: string;
}

export interface NoticePart {
  kind: "notice";
  key: string;
  level: NoticeLevel;
  content: string;
}

export type Part = WordsPart | ToolPart | ImagePart | NoticePart;

export interface Ending {
  ms: number;
  model: string;
  reason: DoneReason;
}

export interface Message {
  id: string;
  role: Role;
  at: number;
  model: string | null;
  interrupted: boolean;
  parts: Part[];
  ending: Ending | null;
}

/** Text that was being written when its host stopped: not in the session, kept for the reader. */
export interface CutText {
  key: string;
  text: string;
}

/** A message of this window that the host has not confirmed yet. */
export interface Outgoing {
  clientId: string;
  text: string;
  images: PromptImage[];
  at: number;
  failure: Failure | null;
}

export interface UsageTotals {
  input: number;
  output: number;
  cacheRead: number;
  context: number | null;
  window: number | null;
}

export interface Thread {
  sessionId: SessionId;
  status: "loading" | "ready" | "missing" | "failed";
  failure: Failure | null;
  epoch: string | null;
  /** The newest event that is part of what is shown. */
  seq: number;
  /** A snapshot is wanted: events were lost, or the host is another one. */
  stale: boolean;
  /** A snapshot was asked for; events are also held until it came. */
  opening: boolean;
  held: KnownEvent[];
  messages: Message[];
  older: boolean;
  turns: number;
  running: boolean;
  writing: { toolCallId: string; toolName: string; chars: number } | null;
  requests: PermissionAsked[];
  questions: QuestionAsked[];
  todos: Todo[];
  tasks: BackgroundTask[];
  queue: QueuedMessage[];
  outgoing: Outgoing[];
  cut: CutText[];
  runFailure: Failure | null;
  usage: UsageTotals | null;
}

export interface State {
  line: Line;
  lastGoodAt: number | null;
  host: HostInfoResult | null;
  projects: ProjectRow[];
  /** What each folder that was looked at brings. */
  trust: Record<string, ProjectsTrustReportResult>;
  rows: Record<SessionId, Row>;
  listed: boolean;
  startFailure: Failure | null;
  threads: Record<SessionId, Thread>;
  unknownEvents: number;
}

export const TURNS = 30;

export function emptyState(): State {
  return {
    line: "connecting",
    lastGoodAt: null,
    host: null,
    projects: [],
    trust: {},
    rows: {},
    listed: false,
    startFailure: null,
    threads: {},
    unknownEvents: 0,
  };
}

export function emptyThread(sessionId: SessionId): Thread {
  return {
    sessionId,
    status: "loading",
    failure: null,
    epoch: null,
    seq: 0,
    stale: false,
    opening: false,
    held: [],
    messages: [],
    older: false,
    turns: TURNS,
    running: false,
    writing: null,
    requests: [],
    questions: [],
    todos: [],
    tasks: [],
    queue: [],
    outgoing: [],
    cut: [],
    runFailure: null,
    usage: null,
  };
}
