import { carriers } from "@vocalhost/carriers";
import type { CallOutcome, CallReport, CallSummary } from "@vocalhost/simulator";
import type { Ui } from "../ui.ts";

/** How a call went, for a person. */
export function describeReport(
  { outcome, summary }: Pick<CallReport, "outcome" | "summary">,
  ui: Ui,
): string {
  const rows = summaryRows(summary);
  const width = Math.max(...rows.map(([name]) => name.length));
  return [
    "",
    `${ui.style("bold", `A call of ${seconds(summary.durationMs)} over ${carriers[summary.carrier].title}`)}. ${ending(outcome)}`,
    "",
    ...rows.map(([name, value]) => `  ${ui.style("dim", name.padEnd(width))}  ${value}`),
    "",
    ...violationLines(summary, ui),
  ].join("\n");
}

function ending(outcome: CallOutcome): string {
  switch (outcome.type) {
    case "dropped":
      return `It broke off (close code ${outcome.code}).`;
    case "not-connected":
      return "The bot did not answer.";
    case "hung-up":
      if (outcome.by === "bot") return "The bot hung up.";
      return {
        asked: "The caller hung up.",
        aborted: "You hung up.",
        silence: "The caller hung up after silence.",
        "time-up": "The caller hung up when time was up.",
      }[outcome.reason];
    default:
      return outcome satisfies never;
  }
}

type Row = [name: string, value: string];

function summaryRows(summary: CallSummary): Row[] {
  const { heard, said, marks, clears, traffic } = summary;
  const rows: Row[] = [
    ["connected", `after ${milliseconds(summary.connectMs)}`],
    [
      "first sound",
      summary.firstAudioMs === undefined ? "never" : `${seconds(summary.firstAudioMs)} after dialling`,
    ],
  ];
  if (summary.answersMs.length > 0)
    rows.push(["answers", `${summary.answersMs.map(milliseconds).join(", ")} after the caller stopped`]);
  if (summary.interruptionsMs.length > 0)
    rows.push([
      "interrupted",
      `the bot stopped after ${summary.interruptionsMs.map(milliseconds).join(", ")}`,
    ]);
  if (summary.falseInterruptions > 0)
    rows.push([
      "false alarms",
      `the bot stopped ${times(summary.falseInterruptions)} though the caller was silent`,
    ]);
  rows.push(
    ["heard", heardText(heard)],
    [
      "said",
      `${said.audibleSeconds} s${said.lostChunks ? `, ${said.lostChunks} chunks lost on the way` : ""}`,
    ],
  );
  if (summary.digits) rows.push(["keys", summary.digits]);
  if (marks.received > 0) rows.push(["marks", marksText(marks)]);
  if (clears.count > 0) rows.push(["clears", `${clears.count}, ${seconds(clears.droppedMs)} never heard`]);
  rows.push(["pacing", pacingText(summary.pacing)]);
  rows.push([
    "messages",
    `${traffic.messagesOut} out (${kilobytes(traffic.bytesOut)}), ${traffic.messagesIn} in (${kilobytes(traffic.bytesIn)})`,
  ]);
  return rows;
}

function times(count: number): string {
  return count === 1 ? "once" : `${count} times`;
}

function heardText({
  seconds: played,
  audibleSeconds,
  silenceRatio,
  cutOffMs,
}: CallSummary["heard"]): string {
  const cutOff = cutOffMs > 0 ? `; ${seconds(cutOffMs)} cut off at the end` : "";
  return `${played} s, ${audibleSeconds} s of it audible; silence ${Math.round(silenceRatio * 100)}% of the call${cutOff}`;
}

function marksText({ received, reached, returnedByClear, unanswered }: CallSummary["marks"]): string {
  const parts = [`${received} received`, `${reached} reached`];
  if (returnedByClear > 0) parts.push(`${returnedByClear} returned by a clear`);
  if (unanswered > 0) parts.push(`${unanswered} never reached`);
  return parts.join(", ");
}

function pacingText(pacing: CallSummary["pacing"]): string {
  const { chunks, largestLeadMs, earlyChunks, lateChunks, largestGapMs, ownLagMs } = pacing;
  if (chunks === 0) return "no audio arrived";
  const early = earlyChunks > 0 ? ` (${earlyChunks} of ${chunks} chunks over 250 ms)` : "";
  const late =
    lateChunks > 0
      ? `${lateChunks} ${lateChunks === 1 ? "gap" : "gaps"}, at most ${milliseconds(largestGapMs)}`
      : "no gaps";
  const own = ownLagMs > SMALL_LAG_MS ? `; this machine itself was up to ${milliseconds(ownLagMs)} late` : "";
  return `up to ${milliseconds(largestLeadMs)} ahead${early}, ${late}${own}`;
}

const SMALL_LAG_MS = 20; // what the playback hides anyway

function violationLines({ violations, carrier }: CallSummary, ui: Ui): string[] {
  if (violations.length === 0)
    return [ui.style("green", `${carriers[carrier].title}'s protocol was followed.`)];
  return [
    ui.style("yellow", `${carriers[carrier].title}'s protocol was broken:`),
    ...violations.map(
      ({ code, detail, count, firstMs }) =>
        `  ${count} × ${code}: ${detail} (first after ${seconds(firstMs)})`,
    ),
  ];
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 1)} s`;
}

function milliseconds(ms: number | undefined): string {
  return `${ms ?? 0} ms`;
}

function kilobytes(bytes: number): string {
  return `${Math.ceil(bytes / 1024)} KB`;
}
