import { memo } from "react";
import { toSpan } from "../duration.ts";
import { Icon } from "../icon.tsx";
import type { BotSegment } from "../transcript/bot-output.ts";
import type { BotTurn, TranscriptEntry, UserTurn } from "../transcript/transcript.ts";

/** One entry of the transcript. */
export const Turn = memo(function Turn({ entry }: { entry: TranscriptEntry }) {
  switch (entry.kind) {
    case "user":
      return <UserBubble turn={entry} />;
    case "bot":
      return <BotBubble turn={entry} />;
    case "note":
      return <li className="px-2 text-center text-[0.8125rem] text-muted">{entry.text}</li>;
    default:
      return entry satisfies never;
  }
});

function UserBubble({ turn }: { turn: UserTurn }) {
  return (
    <li className="ml-auto max-w-[85%]">
      <span className="sr-only">You: </span>
      <div className="rounded-2xl rounded-br-md bg-accent-soft px-3.5 py-2 break-words whitespace-pre-wrap">
        {turn.text}
        {turn.interim && (
          <span className="text-muted">
            {turn.text && " "}
            {turn.interim}
          </span>
        )}
        {!turn.text && !turn.interim && <Spoken turn={turn} who="You" />}
      </div>
    </li>
  );
}

function BotBubble({ turn }: { turn: BotTurn }) {
  return (
    <li className="mr-auto max-w-[85%]">
      <span className="sr-only">Bot: </span>
      <div className="rounded-2xl rounded-bl-md bg-sunken px-3.5 py-2 break-words whitespace-pre-wrap">
        {turn.segments.length > 0 ? (
          turn.segments.map((segment, index) => (
            <Segment key={`${index}`} segment={segment} isFirst={index === 0} />
          ))
        ) : (
          <Spoken turn={turn} who="Bot" />
        )}
      </div>
      {turn.interrupted && <p className="mt-1 px-1 text-xs text-muted">Interrupted</p>}
    </li>
  );
}

/** Spoken text stands out from text that is still to be spoken. */
function Segment({ segment, isFirst }: { segment: BotSegment; isFirst: boolean }) {
  const spoken = segment.text.slice(0, segment.spokenLength);
  const rest = segment.text.slice(segment.spokenLength);
  if (segment.aggregatedBy === "code") {
    return (
      <code className="my-1 block overflow-x-auto rounded-lg bg-paper p-2 font-mono text-[0.8125rem]">
        {segment.text}
      </code>
    );
  }
  return (
    <>
      {!isFirst && " "}
      {spoken}
      {rest && <span className="text-muted">{rest}</span>}
    </>
  );
}

/** A turn without words, as a bot without speech recognition gives it. */
function Spoken({ turn, who }: { turn: UserTurn | BotTurn; who: "You" | "Bot" }) {
  const speaking = turn.speakingSinceMs !== undefined;
  return (
    <span className="inline-flex items-center gap-2">
      <Icon name="voice" className={`size-4 text-accent ${speaking ? "animate-pulse" : ""}`} />
      {speaking
        ? `${who === "You" ? "You are" : "Bot is"} speaking`
        : `${who} spoke for ${toSpan(turn.spokenMs)}`}
    </span>
  );
}
