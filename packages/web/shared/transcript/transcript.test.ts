import assert from "node:assert/strict";
import { test } from "node:test";
import type { ConnectionEvent } from "../events/connection-event.ts";
import { emptyTranscript, nextTranscript, type TranscriptEntry } from "./transcript.ts";

type Line = [atMs: number, type: string, data?: unknown];

/** Plays received messages and describes each entry in one line. */
function check({ lines, expect }: { lines: Line[]; expect: string[] }) {
  const events = lines.map<ConnectionEvent>(([atMs, type, data]) => ({
    type: "message-received",
    message: { type, data },
    atMs,
  }));
  const { entries } = events.reduce(nextTranscript, emptyTranscript);
  assert.deepEqual(entries.map(describe), expect);
}

function describe(entry: TranscriptEntry): string {
  switch (entry.kind) {
    case "note":
      return `note: ${entry.text}`;
    case "user":
      return `user ${entry.speakingSinceMs === undefined ? entry.spokenMs : "…"}: ${entry.text}|${entry.interim}`;
    case "bot": {
      const text = entry.segments
        .map(({ text, spokenLength }) => `${text.slice(0, spokenLength)}|${text.slice(spokenLength)}`)
        .join(" ");
      const state = entry.speakingSinceMs === undefined ? entry.spokenMs : "…";
      return `bot ${state}${entry.interrupted ? " cut" : ""}: ${text}`;
    }
    default:
      return entry satisfies never;
  }
}

const said = (text: string, final = true) => ({ text, final, timestamp: "", user_id: "u" });
const output = (text: string, status: string, spoken = "", id = 1) => ({
  text,
  aggregated_by: "sentence",
  segment_id: id,
  will_be_spoken: true,
  spoken_status: status,
  spoken_progress: { accumulated_text: spoken, remaining_text: text.slice(spoken.length) },
});

test("turns of a bot without speech recognition show how long each side spoke", () => {
  check({
    lines: [
      [0, "user-started-speaking"],
      [1800, "user-stopped-speaking"],
      [2000, "bot-started-speaking"],
      [3700, "bot-stopped-speaking"],
      [5000, "user-started-speaking"],
    ],
    expect: ["user 1800: |", "bot 1700: ", "user …: |"],
  });
});

test("an interim transcript is replaced, a final one stays", () => {
  check({
    lines: [
      [0, "user-started-speaking"],
      [100, "user-transcription", said("good", false)],
      [200, "user-transcription", said("good mor", false)],
      [300, "user-transcription", said("Good morning.")],
      [400, "user-transcription", said("how", false)],
    ],
    expect: ["user …: Good morning.|how"],
  });
});

test("a transcript that arrives after the bot began belongs to the turn before", () => {
  check({
    lines: [
      [0, "user-started-speaking"],
      [1000, "user-stopped-speaking"],
      [1100, "bot-started-speaking"],
      [1200, "user-transcription", said("Hello")],
    ],
    expect: ["user 1000: Hello|", "bot …: "],
  });
});

test("a transcript without voice activity makes its own turn", () => {
  check({
    lines: [
      [0, "user-transcription", said("One")],
      [9000, "user-transcription", said("Two")],
    ],
    expect: ["user 0: One|", "user 0: Two|"],
  });
});

test("a short breath does not split a turn", () => {
  check({
    lines: [
      [0, "user-started-speaking"],
      [1000, "user-stopped-speaking"],
      [1500, "user-started-speaking"],
      [2000, "user-stopped-speaking"],
      [9000, "user-started-speaking"],
    ],
    expect: ["user 1500: |", "user …: |"],
  });
});

test("bot output moves a cursor through its text", () => {
  const text = "Hello there, how are you?";
  check({
    lines: [
      [0, "bot-started-speaking"],
      [10, "bot-output", output(text, "new")],
      [20, "bot-output", output(text, "in-progress", "Hello there,")],
    ],
    expect: ["bot …: Hello there,| how are you?"],
  });
  check({
    lines: [
      [10, "bot-output", output(text, "new")],
      [30, "bot-output", output(text, "completed", text)],
      [40, "bot-output", output(text, "in-progress", "Hello")],
    ],
    expect: [`bot 0: ${text}|`],
  });
});

test("a lone completed segment is still shown, an empty one is not", () => {
  check({
    lines: [
      [0, "bot-output", output("", "new")],
      [10, "bot-output", output("Hi.", "completed", "Hi.")],
    ],
    expect: ["bot 0: Hi.|"],
  });
});

test("text that will not be spoken counts as delivered", () => {
  check({
    lines: [[0, "bot-output", { text: "a = 1", aggregated_by: "code", will_be_spoken: false }]],
    expect: ["bot 0: a = 1|"],
  });
});

test("version 1 words advance through the sentence", () => {
  check({
    lines: [
      [0, "bot-output", { text: "Good day.", aggregated_by: "sentence", spoken: false }],
      [10, "bot-output", { text: "Good", aggregated_by: "word", spoken: true }],
    ],
    expect: ["bot 0: Good| day."],
  });
});

test("an interruption leaves the rest unspoken", () => {
  const lines: Line[] = [
    [0, "bot-started-speaking"],
    [10, "bot-output", output("Once upon a time", "new")],
    [20, "bot-output", output("Once upon a time", "in-progress", "Once")],
  ];
  const expect = ["bot 500 cut: Once| upon a time", "user …: |"];
  check({ lines: [...lines, [500, "user-started-speaking"]], expect });
  check({
    lines: [...lines, [500, "bot-stopped-speaking"], [520, "user-started-speaking"]],
    expect,
  });
});

test("progress after an interruption adds nothing to the next turn", () => {
  check({
    lines: [
      [0, "bot-started-speaking"],
      [10, "bot-output", output("Once upon a time", "new")],
      [500, "user-started-speaking"],
      [600, "user-stopped-speaking"],
      [610, "bot-output", output("Once upon a time", "in-progress", "Once upon")],
      [620, "bot-output", output("Once upon a time", "completed")],
      [700, "bot-output", output("Yes?", "new", "", 2)],
    ],
    expect: ["bot 500 cut: |Once upon a time", "user 100: |", "bot 0: |Yes?"],
  });
});

test("the end of a session is no interruption", () => {
  const events: ConnectionEvent[] = [
    { type: "message-received", message: { type: "bot-started-speaking" }, atMs: 0 },
    { type: "session-ended", by: "bot", atMs: 400 },
  ];
  assert.deepEqual(events.reduce(nextTranscript, emptyTranscript).entries.map(describe), ["bot 400: "]);
});

test("sentences of one answer share a turn, a later answer does not", () => {
  check({
    lines: [
      [0, "bot-started-speaking"],
      [10, "bot-output", output("One.", "completed", "One.", 1)],
      [1000, "bot-stopped-speaking"],
      [2000, "bot-started-speaking"],
      [2010, "bot-output", output("Two.", "completed", "Two.", 2)],
      [3000, "bot-stopped-speaking"],
      [9000, "bot-started-speaking"],
    ],
    expect: ["bot 2000: One.| Two.|", "bot …: "],
  });
});

test("typed text is a turn, and errors are notes", () => {
  const events: ConnectionEvent[] = [
    { type: "message-sent", message: { type: "send-text", data: { content: "hi" } }, atMs: 0 },
    {
      type: "message-received",
      message: { type: "error-response", data: { error: "Unsupported type send-text" } },
      atMs: 5,
    },
  ];
  const { entries } = events.reduce(nextTranscript, emptyTranscript);
  assert.deepEqual(entries.map(describe), ["user 0: hi|", "note: The bot says: Unsupported type send-text"]);
});

test("the transcript is bounded and ids stay unique", () => {
  const events = Array.from({ length: 1000 }, (_, index): ConnectionEvent => {
    return { type: "notice-raised", text: String(index), atMs: index };
  });
  const { entries } = events.reduce(nextTranscript, emptyTranscript);
  assert.equal(entries.length, 400);
  assert.equal(new Set(entries.map((entry) => entry.id)).size, 400);
});
