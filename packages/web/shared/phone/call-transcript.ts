import type { ConnectionEvent, Speaker } from "../events/connection-event.ts";
import { toSpan } from "../duration.ts";
import {
  append,
  editLast,
  emptyBotTurn,
  replace,
  stopped,
  voiceTurn,
  type Transcript,
  type TranscriptEntry,
  type TranscriptNote,
} from "../transcript/transcript.ts";

const SAME_TURN_PAUSE_MS = 1_200; // a breath within a turn
const NOISE_MS = 100; // shorter sounds are clicks or coughs, not speech

/** A phone line has no words of its own: turns are found by loudness, the rest are small notes. */
export function nextCallTranscript(transcript: Transcript, event: ConnectionEvent): Transcript {
  switch (event.type) {
    case "speech-start":
      return startTurn(transcript, event.who, event.atMs);
    case "speech-end":
      return endTurn(transcript, event.who, event.atMs);
    case "key-pressed":
      return note(transcript, "keys", event.key);
    case "mark-reached":
      return note(transcript, "marks", event.name);
    case "audio-cleared":
      return event.droppedMs > 0 ? cutOff(transcript, event.droppedMs) : transcript;
    case "violation-found":
      return remark(transcript, `Protocol violation: ${event.detail}`);
    default:
      return transcript;
  }
}

function startTurn(transcript: Transcript, who: Speaker, atMs: number): Transcript {
  const latest = transcript.entries.findLast((entry) => entry.kind !== "note");
  const pauseMs = latest?.stoppedMs === undefined ? 0 : atMs - latest.stoppedMs;
  const wasCutOff = latest?.kind === "bot" && latest.interrupted;
  if (latest?.kind === who && !wasCutOff && pauseMs <= SAME_TURN_PAUSE_MS) {
    return replace(transcript, { ...latest, speakingSinceMs: latest.speakingSinceMs ?? atMs });
  }
  if (who === "user") return append(transcript, voiceTurn(atMs));
  return beforeItsMarks(append(transcript, { ...emptyBotTurn, speakingSinceMs: atMs }));
}

/** A bot's sound begins softly: its first marks may be reached before it is noticed. */
function beforeItsMarks(transcript: Transcript): Transcript {
  const [marks, turn] = transcript.entries.slice(-2);
  if (!turn || marks?.kind !== "note" || marks.gathers?.of !== "marks") return transcript;
  return { ...transcript, entries: [...transcript.entries.slice(0, -2), turn, marks] };
}

function endTurn(transcript: Transcript, who: Speaker, atMs: number): Transcript {
  const ended = editLast(transcript, who, (turn) => stopped(turn, Math.max(atMs, turn.speakingSinceMs ?? 0)));
  const turn = ended.entries.findLast((entry) => entry.kind === who);
  const isNoise = turn !== undefined && turn.kind !== "note" && turn.spokenMs < NOISE_MS;
  return isNoise ? { ...ended, entries: ended.entries.filter((entry) => entry !== turn) } : ended;
}

/** The bot took back what it had not said yet. */
function cutOff(transcript: Transcript, droppedMs: number): Transcript {
  const cut = editLast(transcript, "bot", (turn) => ({ ...turn, interrupted: true }));
  return append(cut, { kind: "note", text: `Bot cleared ${toSpan(droppedMs)} of audio` });
}

/** Keys follow keys, and marks follow marks: they share a line. */
function note(transcript: Transcript, of: "keys" | "marks", item: string): Transcript {
  const last = gathering(transcript, of);
  const items = [...(last?.gathers?.items ?? []), item];
  const gathers: TranscriptNote["gathers"] = { of, items: items.slice(-ITEMS_MAX) };
  const text = of === "keys" ? `You pressed ${gathers.items.join(" ")}` : marksText(items);
  const entry: Omit<TranscriptNote, "id"> = { kind: "note", text, gathers };
  return last ? replace(transcript, { ...entry, id: last.id }) : append(transcript, entry);
}

/** The note for such events, unless a turn has followed it. */
function gathering(transcript: Transcript, of: "keys" | "marks"): TranscriptNote | undefined {
  const spoken = transcript.entries.findLastIndex((entry) => entry.kind !== "note");
  const notes = transcript.entries.slice(spoken + 1).filter((entry) => entry.kind === "note");
  return notes.findLast((note) => note.gathers?.of === of);
}

const ITEMS_MAX = 40;

function marksText(names: string[]): string {
  return names.length === 1 ? `Mark ${names[0]} reached` : `${names.length} marks reached`;
}

/** A bot that errs once mostly errs with every message; saying so once is enough. */
function remark(transcript: Transcript, text: string): Transcript {
  const isSaid = (entry: TranscriptEntry) => entry.kind === "note" && entry.text === text;
  return transcript.entries.some(isSaid) ? transcript : append(transcript, { kind: "note", text });
}
