import { toSpan } from "../duration.ts";
import type { TranscriptEntry } from "./transcript.ts";

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
