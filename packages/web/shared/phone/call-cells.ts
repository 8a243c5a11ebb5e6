import type { CallSummary } from "@vocalhost/simulator";
import { toSize } from "../byte-size.ts";
import { toDelay, toSpan } from "../duration.ts";
import type { FigureProps } from "../figures/figure.tsx";
import { medianNote } from "../figures/median-note.ts";
import { median } from "../figures/response-latency.ts";
import type { ShownFigures } from "./call-figures.ts";

const OWN_LAG_MAX_MS = 100;
const AHEAD_MAX_MS = 500; // more than this makes interruptions feel ignored

/** The figures of a running call. */
export function liveCells(figures: ShownFigures, answersMs: number[]): FigureProps[] {
  const { connectMs, firstAudioMs, violations } = figures;
  const firstMs = firstAudioMs === undefined ? undefined : firstAudioMs - (connectMs ?? 0);
  return [
    {
      name: "First sound",
      hint: "From picking up to your bot's first sound",
      value: toDelay(firstMs),
      note: connectMs === undefined ? "" : `picked up in ${toDelay(connectMs)}`,
    },
    {
      name: "Answers in",
      hint: "From your last sound to the bot's first",
      value: toDelay(answersMs.at(-1)),
      note: medianNote(answersMs),
    },
    {
      name: "Audio ahead",
      hint: "Bot audio waiting at the carrier to be played",
      value: toAhead(figures.leadMs),
      note: figures.largestLeadMs > 0 ? `at most ${toAhead(figures.largestLeadMs)}` : "",
      alarming: figures.leadMs > AHEAD_MAX_MS && isPunctual(figures),
    },
    lateCell(figures),
    marksCell({ received: figures.marksReceived, reached: figures.marksReached, returnedByClear: 0 }),
    {
      name: "Received",
      hint: "Messages from your bot, audio included",
      value: toSize(figures.bytesIn),
      note: "",
    },
    {
      name: "Sent",
      hint: "Messages to your bot, audio included",
      value: toSize(figures.bytesOut),
      note: "",
    },
    {
      name: "Violations",
      hint: "Messages from your bot that the carrier would reject",
      value: String(violations.reduce((sum, { count }) => sum + count, 0)),
      note: violations.at(-1)?.detail ?? "of the protocol",
      alarming: violations.length > 0,
    },
  ];
}

/** The figures of a finished call. */
export function summaryCells(summary: CallSummary): FigureProps[] {
  const { connectMs, firstAudioMs, answersMs, heard, said, clears, pacing, traffic } = summary;
  const firstMs = firstAudioMs === undefined ? undefined : firstAudioMs - (connectMs ?? 0);
  return [
    {
      name: "First sound",
      hint: "From picking up to your bot's first sound",
      value: toDelay(firstMs),
      note: connectMs === undefined ? "" : `picked up in ${toDelay(connectMs)}`,
    },
    {
      name: "Answers in",
      hint: "From your last sound to the bot's first",
      value: toDelay(median(answersMs)),
      note: answersMs.length > 1 ? `median of ${answersMs.length}` : "",
    },
    {
      name: "Bot spoke",
      hint: "How long your bot could be heard",
      value: toSpan(heard.audibleSeconds * 1000),
      note: heard.cutOffMs > 0 ? `${toSpan(heard.cutOffMs)} cut off` : "",
    },
    {
      name: "You spoke",
      hint: "How long you could be heard",
      value: toSpan(said.audibleSeconds * 1000),
      note: "",
    },
    {
      name: "Audio ahead",
      hint: "Most bot audio that ever waited at the carrier to be played",
      value: toAhead(pacing.largestLeadMs),
      note: pacing.earlyChunks > 0 ? `${pacing.earlyChunks} chunks early` : "at most",
      alarming: pacing.largestLeadMs > AHEAD_MAX_MS && isPunctual(pacing),
    },
    lateCell(pacing),
    marksCell(summary.marks),
    {
      name: "Clears",
      hint: "Times your bot cleared audio before it was played",
      value: String(clears.count),
      note: clearsNote(summary),
    },
    { name: "Keys", hint: "Keys you pressed", value: shortened(summary.digits) || "–", note: "" },
    {
      name: "Received",
      hint: "Messages from your bot, audio included",
      value: toSize(traffic.bytesIn),
      note: toMessages(traffic.messagesIn),
    },
    {
      name: "Sent",
      hint: "Messages to your bot, audio included",
      value: toSize(traffic.bytesOut),
      note: toMessages(traffic.messagesOut),
    },
    {
      name: "Timer delay",
      hint: "How late this page itself was at worst; gaps of that size may be its own fault",
      value: toDelay(pacing.ownLagMs),
      note: isPunctual(pacing) ? "of this page" : "this page was busy",
      alarming: !isPunctual(pacing),
    },
  ];
}

function lateCell(pacing: { lateChunks: number; largestGapMs: number; ownLagMs: number }): FigureProps {
  return {
    name: "Late chunks",
    hint: "Times your bot's voice cut out because the next audio came too late",
    value: String(pacing.lateChunks),
    note: lateNote(pacing),
    alarming: pacing.lateChunks > 0 && isPunctual(pacing),
  };
}

function lateNote(pacing: { lateChunks: number; largestGapMs: number; ownLagMs: number }): string {
  if (pacing.lateChunks === 0) return "";
  return isPunctual(pacing) ? `gap of ${toDelay(pacing.largestGapMs)}` : "this page was busy";
}

/** A page that is late itself cannot blame the bot. */
function isPunctual({ ownLagMs }: { ownLagMs: number }): boolean {
  return ownLagMs < OWN_LAG_MAX_MS;
}

function marksCell(marks: { received: number; reached: number; returnedByClear: number }): FigureProps {
  const answered = marks.reached + marks.returnedByClear;
  return {
    name: "Marks",
    hint: "Marks your bot set, and how many came back to it",
    value: marks.received === 0 ? "0" : `${answered} of ${marks.received}`,
    note: marks.received === 0 ? "" : "acknowledged",
  };
}

function clearsNote({ clears, interruptionsMs, falseInterruptions }: CallSummary): string {
  if (falseInterruptions > 0) return `${falseInterruptions} while you were silent`;
  if (interruptionsMs.length > 0) return `${toDelay(median(interruptionsMs))} after you cut in`;
  return clears.droppedMs > 0 ? `${toSpan(clears.droppedMs)} dropped` : "";
}

/** Zero is a length here, not the absence of one. */
function toAhead(ms: number): string {
  return ms < 0.5 ? "0 ms" : toDelay(ms);
}

function toMessages(count: number): string {
  return count === 1 ? "1 message" : `${count} messages`;
}

const KEYS_SHOWN = 8;

function shortened(keys: string): string {
  return keys.length > KEYS_SHOWN ? `…${keys.slice(-KEYS_SHOWN)}` : keys;
}
