/** A piece of what the bot says, with how far its voice has got. */
export interface BotSegment {
  segmentId: number | undefined;
  text: string;
  spokenLength: number;
  /** Marks blocks that are not plain sentences, such as code. */
  aggregatedBy: string;
}

/** Puts one `bot-output` message among the segments of a turn. */
export function putBotOutput(segments: BotSegment[], data: unknown): BotSegment[] {
  const output = toOutput(data);
  if (!output) return segments;
  if (output.spoken !== undefined) return putVersionOne(segments, output);
  const index = segments.findLastIndex(
    (segment) => segment.segmentId !== undefined && segment.segmentId === output.segmentId,
  );
  const known = segments[index];
  const spokenLength = spokenLengthOf(output);
  if (!known || output.status === "new") {
    const { segmentId, text, aggregatedBy } = output;
    return [...segments, { segmentId, text, spokenLength, aggregatedBy }];
  }
  // Messages may overtake each other; the voice never goes back.
  const ahead = Math.max(known.spokenLength, Math.min(spokenLength, known.text.length));
  return segments.with(index, { ...known, spokenLength: ahead });
}

/** Whether a message tells more about a segment that is already there. */
export function isAboutSegmentOf(segments: BotSegment[], data: unknown): boolean {
  const output = toOutput(data);
  if (output?.segmentId === undefined || output.status === "new") return false;
  return segments.some((segment) => segment.segmentId === output.segmentId);
}

/** Version 1 sends the sentence first, then its words (or itself) again as they are spoken. */
function putVersionOne(segments: BotSegment[], output: Output): BotSegment[] {
  const { text, aggregatedBy } = output;
  if (!output.spoken) {
    return [...segments, { segmentId: undefined, text, spokenLength: 0, aggregatedBy }];
  }
  const index = segments.findIndex((segment) => segment.spokenLength < segment.text.length);
  const open = segments[index];
  const at = open ? open.text.indexOf(text.trim(), open.spokenLength) : -1;
  if (!open || at < 0) {
    return [...segments, { segmentId: undefined, text, spokenLength: text.length, aggregatedBy }];
  }
  return segments.with(index, { ...open, spokenLength: at + text.trim().length });
}

interface Output {
  text: string;
  segmentId: number | undefined;
  aggregatedBy: string;
  spoken: boolean | undefined;
  willBeSpoken: boolean;
  status: string | undefined;
  accumulated: string | undefined;
}

function toOutput(data: unknown): Output | undefined {
  if (typeof data !== "object" || data === null) return undefined;
  const raw = data as Record<string, unknown>;
  const progress = (raw["spoken_progress"] ?? {}) as Record<string, unknown>;
  const text = raw["text"];
  if (typeof text !== "string" || !text) return undefined;
  return {
    text,
    segmentId: typeof raw["segment_id"] === "number" ? raw["segment_id"] : undefined,
    aggregatedBy: typeof raw["aggregated_by"] === "string" ? raw["aggregated_by"] : "sentence",
    spoken: typeof raw["spoken"] === "boolean" ? raw["spoken"] : undefined,
    willBeSpoken: raw["will_be_spoken"] !== false,
    status: typeof raw["spoken_status"] === "string" ? raw["spoken_status"] : undefined,
    accumulated: typeof progress["accumulated_text"] === "string" ? progress["accumulated_text"] : undefined,
  };
}

function spokenLengthOf(output: Output): number {
  if (!output.willBeSpoken || output.status === "completed") return output.text.length;
  if (output.status === "in-progress") return output.accumulated?.length ?? 0;
  return output.status === "new" ? 0 : output.text.length;
}
