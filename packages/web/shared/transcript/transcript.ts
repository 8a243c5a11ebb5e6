import { toSpan } from "../duration.ts";
import type { ConnectionEvent, ReceivedMessage } from "../events/connection-event.ts";
import { isAboutSegmentOf, putBotOutput, type BotSegment } from "./bot-output.ts";

export interface UserTurn {
  kind: "user";
  id: number;
  typed: boolean;
  /** Recognised for good. */
  text: string;
  /** Recognised so far, may still change. */
  interim: string;
  speakingSinceMs: number | undefined;
  stoppedMs: number | undefined;
  spokenMs: number;
}

export interface BotTurn {
  kind: "bot";
  id: number;
  segments: BotSegment[];
  speakingSinceMs: number | undefined;
  stoppedMs: number | undefined;
  spokenMs: number;
  interrupted: boolean;
  closed: boolean;
}

export interface TranscriptNote {
  kind: "note";
  id: number;
  text: string;
  /** Consecutive events that one note sums up. */
  gathers?: { of: "keys" | "marks"; items: string[] };
}

export type TranscriptEntry = UserTurn | BotTurn | TranscriptNote;

export interface Transcript {
  entries: TranscriptEntry[];
  nextId: number;
}

export const emptyTranscript: Transcript = { entries: [], nextId: 1 };

const ENTRIES_MAX = 400; // an hour of lively talk; older turns fall off the top
const SAME_TURN_PAUSE_MS = 1_200; // a breath within a turn
const LATE_TRANSCRIPT_MS = 3_000; // recognisers finish after the voice does
const BOT_PAUSE_MS = 2_500; // between sentences of one answer
const CUT_OFF_MS = 250; // the bot falls silent just before the user's start is reported

export function nextTranscript(transcript: Transcript, event: ConnectionEvent): Transcript {
  switch (event.type) {
    case "session-requested":
      return emptyTranscript;
    case "message-received":
      return receive(transcript, event.message, event.atMs);
    case "message-sent":
      return event.message.type === "send-text"
        ? append(closeBot(transcript, event.atMs), typedTurn(event.message))
        : transcript;
    case "notice-raised":
      return append(transcript, { kind: "note", text: event.text });
    case "session-ended":
    case "session-failed":
      return closeUser(stopBot(transcript, event.atMs), event.atMs);
    default:
      return transcript;
  }
}

function receive(transcript: Transcript, message: ReceivedMessage, atMs: number): Transcript {
  switch (message.type) {
    case "user-started-speaking":
      return startUser(closeBot(transcript, atMs), atMs);
    case "user-stopped-speaking":
      return closeUser(transcript, atMs);
    case "user-transcription":
      return hearUser(transcript, message.data, atMs);
    case "bot-started-speaking":
      return editBot(transcript, atMs, (turn) => ({
        ...turn,
        speakingSinceMs: turn.speakingSinceMs ?? atMs,
      }));
    case "bot-stopped-speaking":
      return stopBot(transcript, atMs);
    case "bot-interrupted":
      return editLast(transcript, "bot", (turn) => ({ ...turn, interrupted: true }));
    case "bot-output":
      return putOutput(transcript, message.data, atMs);
    case "llm-function-call-in-progress":
      return append(transcript, { kind: "note", text: `The bot calls ${functionName(message)}` });
    case "error-response":
    case "error":
      return append(transcript, { kind: "note", text: `The bot says: ${errorText(message)}` });
    default:
      return transcript;
  }
}

function startUser(transcript: Transcript, atMs: number): Transcript {
  const last = transcript.entries.at(-1);
  if (last?.kind === "user" && !last.typed) {
    const pauseMs = last.stoppedMs === undefined ? 0 : atMs - last.stoppedMs;
    if (pauseMs <= SAME_TURN_PAUSE_MS) {
      return replace(transcript, { ...last, speakingSinceMs: last.speakingSinceMs ?? atMs });
    }
  }
  return append(transcript, voiceTurn(atMs));
}

function closeUser(transcript: Transcript, atMs: number): Transcript {
  return editLast(transcript, "user", (turn) => stopped(turn, atMs));
}

function hearUser(transcript: Transcript, data: unknown, atMs: number): Transcript {
  const { text, final } = fields(data);
  if (typeof text !== "string" || !text.trim()) return transcript;
  const latest = transcript.entries.findLast((entry) => entry.kind === "user" && !entry.typed);
  const fits =
    latest?.kind === "user" &&
    (latest.stoppedMs === undefined ||
      latest.speakingSinceMs !== undefined ||
      atMs - latest.stoppedMs <= LATE_TRANSCRIPT_MS);
  const heard = (turn: UserTurn): UserTurn =>
    final === true ? { ...turn, text: joinWords(turn.text, text), interim: "" } : { ...turn, interim: text };
  if (fits) return replace(transcript, heard(latest));
  // A recogniser without voice activity reports text only.
  const turn = { ...voiceTurn(atMs), speakingSinceMs: undefined, stoppedMs: atMs };
  return append(transcript, heard({ ...turn, id: 0 }));
}

/** Applies an edit to the bot's open turn, or to a new one. */
function editBot(transcript: Transcript, atMs: number, edit: (turn: BotTurn) => BotTurn): Transcript {
  const latest = transcript.entries.findLast((entry) => entry.kind === "bot");
  const goesOn =
    latest?.kind === "bot" &&
    !latest.closed &&
    (latest.stoppedMs === undefined ||
      latest.speakingSinceMs !== undefined ||
      atMs - latest.stoppedMs <= BOT_PAUSE_MS);
  if (goesOn) return replace(transcript, edit(latest));
  const edited = edit({ ...emptyBotTurn, id: 0 });
  const isEmpty = edited.segments.length === 0 && edited.speakingSinceMs === undefined;
  return isEmpty ? transcript : append(transcript, edited);
}

function putOutput(transcript: Transcript, data: unknown, atMs: number): Transcript {
  const turn = transcript.entries.findLast(
    (entry) => entry.kind === "bot" && isAboutSegmentOf(entry.segments, data),
  );
  if (turn?.kind !== "bot") {
    return editBot(transcript, atMs, (open) => ({ ...open, segments: putBotOutput(open.segments, data) }));
  }
  // A bot that was cut off may go on counting words it never said.
  if (turn.interrupted) return transcript;
  return replace(transcript, { ...turn, segments: putBotOutput(turn.segments, data) });
}

function stopBot(transcript: Transcript, atMs: number): Transcript {
  return editLast(transcript, "bot", (turn) => stopped(turn, atMs));
}

/** The user takes the floor. */
function closeBot(transcript: Transcript, atMs: number): Transcript {
  return editLast(transcript, "bot", (turn) => {
    if (turn.closed) return turn;
    const unfinished = turn.segments.some((segment) => segment.spokenLength < segment.text.length);
    const justStopped = turn.stoppedMs !== undefined && atMs - turn.stoppedMs <= CUT_OFF_MS;
    const cutOff = turn.speakingSinceMs !== undefined || (unfinished && justStopped);
    return { ...stopped(turn, atMs), closed: true, interrupted: turn.interrupted || cutOff };
  });
}

export const emptyBotTurn: Omit<BotTurn, "id"> = {
  kind: "bot",
  segments: [],
  speakingSinceMs: undefined,
  stoppedMs: undefined,
  spokenMs: 0,
  interrupted: false,
  closed: false,
};

export function stopped<T extends UserTurn | BotTurn>(turn: T, atMs: number): T {
  if (turn.speakingSinceMs === undefined) return turn;
  const spokenMs = turn.spokenMs + (atMs - turn.speakingSinceMs);
  return { ...turn, speakingSinceMs: undefined, stoppedMs: atMs, spokenMs };
}

export function voiceTurn(atMs: number): Omit<UserTurn, "id"> {
  return {
    kind: "user",
    typed: false,
    text: "",
    interim: "",
    speakingSinceMs: atMs,
    stoppedMs: undefined,
    spokenMs: 0,
  };
}

function typedTurn(message: ReceivedMessage): Omit<UserTurn, "id"> {
  const { content } = fields(message.data);
  const text = typeof content === "string" ? content : "";
  return { ...voiceTurn(0), typed: true, text, speakingSinceMs: undefined };
}

type NewEntry<E> = E extends unknown ? Omit<E, "id"> : never;

export function append(transcript: Transcript, entry: NewEntry<TranscriptEntry>): Transcript {
  const kept = transcript.entries.slice(-(ENTRIES_MAX - 1));
  const entries = [...kept, { ...entry, id: transcript.nextId }];
  return { entries, nextId: transcript.nextId + 1 };
}

export function replace(transcript: Transcript, entry: TranscriptEntry): Transcript {
  const entries = transcript.entries.map((old) => (old.id === entry.id ? entry : old));
  return { ...transcript, entries };
}

export function editLast<K extends "user" | "bot">(
  transcript: Transcript,
  kind: K,
  edit: (turn: Extract<TranscriptEntry, { kind: K }>) => TranscriptEntry,
): Transcript {
  const latest = transcript.entries.findLast((entry) => entry.kind === kind);
  if (!latest) return transcript;
  const edited = edit(latest as Extract<TranscriptEntry, { kind: K }>);
  return edited === latest ? transcript : replace(transcript, edited);
}

function joinWords(before: string, after: string): string {
  return before ? `${before.trimEnd()} ${after.trimStart()}` : after.trimStart();
}

function functionName(message: ReceivedMessage): string {
  const name = fields(message.data)["function_name"];
  return typeof name === "string" ? name : "a function";
}

function errorText(message: ReceivedMessage): string {
  const { error } = fields(message.data);
  return typeof error === "string" ? error : "something went wrong";
}

function fields(data: unknown): Record<string, unknown> {
  return typeof data === "object" && data !== null ? (data as Record<string, unknown>) : {};
}

/** The transcript as lines of text. */
export function toPlainText(entries: TranscriptEntry[]): string {
  return entries.map(toLine).join("\n");
}

/** The newest turn that is over, for those who hear the page instead of seeing it. */
export function lastFinished(entries: TranscriptEntry[]): string {
  const entry = entries.findLast((candidate) => {
    // Marks come several times a second, too fast to be read out.
    if (candidate.kind === "note") return candidate.gathers?.of !== "marks";
    if (candidate.speakingSinceMs !== undefined) return false;
    return candidate.kind === "bot" || !candidate.interim;
  });
  return entry ? toLine(entry) : "";
}

function toLine(entry: TranscriptEntry): string {
  switch (entry.kind) {
    case "note":
      return entry.text;
    case "user":
      return `You: ${entry.text || entry.interim || spokeFor(entry.spokenMs)}`;
    case "bot": {
      const text = entry.segments.map((segment) => segment.text.trim()).join(" ");
      return `Bot: ${text || spokeFor(entry.spokenMs)}${entry.interrupted ? " (interrupted)" : ""}`;
    }
    default:
      return entry satisfies never;
  }
}

function spokeFor(ms: number): string {
  return `spoke for ${toSpan(ms)}`;
}
