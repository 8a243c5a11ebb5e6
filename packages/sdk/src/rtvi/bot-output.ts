import type { BotOutput, ServerMessages } from "@vocalhost/protocol";
import type { BotOutputOptions } from "./rtvi-session.ts";

/** A piece of the bot's text on its way from written to spoken. */
export interface SpokenSegment {
  /** The first characters have been spoken. */
  spokenUpTo(characters: number): void;
  /** All of it has been spoken. */
  completed(): void;
}

export interface BotOutputSource {
  send(data: ServerMessages["bot-output"]): void;
  /** The client speaks version 1. */
  clientIsOld(): boolean;
}

export function createBotOutput(
  source: BotOutputSource,
): (text: string, options?: BotOutputOptions) => SpokenSegment {
  let lastSegment = 0;
  return (text, options = {}) => {
    const aggregatedBy = options.aggregatedBy ?? "sentence";
    const willBeSpoken = options.spoken ?? true;
    if (source.clientIsOld()) return oldSegment(source, { text, aggregatedBy, willBeSpoken });
    lastSegment += 1;
    const base: BotOutput = {
      text,
      aggregated_by: aggregatedBy,
      segment_id: lastSegment,
      will_be_spoken: willBeSpoken,
    };
    if (!willBeSpoken) {
      source.send(base);
      return { spokenUpTo: ignore, completed: ignore };
    }
    const send = (spoken_status: BotOutput["spoken_status"], spoken: number): void =>
      source.send({
        ...base,
        ...(spoken_status ? { spoken_status } : {}),
        spoken_progress: { accumulated_text: text.slice(0, spoken), remaining_text: text.slice(spoken) },
      });
    send("new", 0); // clients show nothing for a segment that does not begin so
    return {
      spokenUpTo: (characters) => send("in-progress", Math.max(0, Math.min(characters, text.length))),
      completed: () => send("completed", text.length),
    };
  };
}

/** Version 1: the sentence as written, then as spoken; no progress between. */
function oldSegment(
  source: BotOutputSource,
  { text, aggregatedBy, willBeSpoken }: { text: string; aggregatedBy: string; willBeSpoken: boolean },
): SpokenSegment {
  const send = (spoken: boolean): void => source.send({ text, aggregated_by: aggregatedBy, spoken });
  send(false);
  return { spokenUpTo: ignore, completed: () => (willBeSpoken ? send(true) : undefined) };
}

function ignore(): void {
  // of this nothing is told
}
