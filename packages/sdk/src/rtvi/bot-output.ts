import type { BotOutput, ServerMessages } from "@vocalhost/protocol";
import type { BotOutputOptions } from "./rtvi-session.ts";

/** A piece of the bot's text whose progress from written to spoken is shown. */
export interface SpokenSegment {
  /** Reports that the first characters have been spoken. */
  spokenUpTo(characters: number): void;
  /** Reports that all of it has been spoken. */
  completed(): void;
}

export interface BotOutputSource {
  send(data: ServerMessages["bot-output"]): void;
  /** Whether the client speaks version 1. */
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
    send("new", 0); // clients ignore a segment without this first message
    return {
      spokenUpTo: (characters) => send("in-progress", Math.max(0, Math.min(characters, text.length))),
      completed: () => send("completed", text.length),
    };
  };
}

/** Version 1 shows the sentence as written, then as spoken, without progress in between. */
function oldSegment(
  source: BotOutputSource,
  { text, aggregatedBy, willBeSpoken }: { text: string; aggregatedBy: string; willBeSpoken: boolean },
): SpokenSegment {
  const send = (spoken: boolean): void => source.send({ text, aggregated_by: aggregatedBy, spoken });
  send(false);
  return { spokenUpTo: ignore, completed: () => (willBeSpoken ? send(true) : undefined) };
}

function ignore(): void {
  // version 1 has no message for this
}
