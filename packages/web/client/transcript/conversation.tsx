import { useEffect, useRef } from "react";
import { Button } from "../../shared/button.tsx";
import { Icon } from "../../shared/icon.tsx";
import { useCopy } from "../../shared/use-copy.ts";
import { useStore } from "../../shared/use-store.ts";
import { useConnection } from "../connection/use-connection.ts";
import { transcript } from "../page/client-state.ts";
import { DialPad } from "../phone/dial-pad.tsx";
import { lastFinished, toPlainText } from "./plain-text.ts";
import { TextBox } from "./text-box.tsx";
import { Turn } from "./turn.tsx";

/** What was said, and a place to type. */
export function Conversation() {
  const { entries } = useStore(transcript);
  const { onPhone } = useConnection();
  const { copied, copy } = useCopy();
  return (
    <section aria-label="Transcript" className="flex h-full min-h-0 flex-col">
      <div className="flex h-12 shrink-0 items-center justify-between px-4 sm:px-5">
        <h2 className="text-sm font-semibold">Transcript</h2>
        {entries.length > 0 && (
          <Button
            look="quiet"
            size="small"
            icon={copied ? "check" : "copy"}
            onClick={() => copy(toPlainText(entries))}
          >
            {copied ? "Copied" : "Copy"}
          </Button>
        )}
      </div>
      <Entries />
      {onPhone ? <DialPad /> : <TextBox />}
      <p aria-live="polite" className="sr-only">
        {lastFinished(entries)}
      </p>
    </section>
  );
}

const NEAR_END_PX = 80;

function Entries() {
  const { entries } = useStore(transcript);
  const list = useRef<HTMLDivElement>(null);
  const following = useRef(true);
  useEffect(() => {
    const element = list.current;
    if (element && following.current) element.scrollTop = element.scrollHeight;
  });
  return (
    <div
      ref={list}
      className="min-h-0 flex-1 overflow-y-auto overscroll-contain px-4 pb-4 sm:px-5"
      // A scrolling region must be reachable by keyboard.
      tabIndex={entries.length > 0 ? 0 : undefined}
      onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
        following.current = scrollHeight - scrollTop - clientHeight < NEAR_END_PX;
      }}
    >
      {entries.length === 0 ? (
        <NothingYet />
      ) : (
        <ol className="flex min-h-full flex-col justify-end gap-3">
          {entries.map((entry) => (
            <Turn key={entry.id} entry={entry} />
          ))}
        </ol>
      )}
    </div>
  );
}

function NothingYet() {
  const { phase, onPhone } = useConnection();
  const live = phase.name === "live";
  return (
    <div className="grid h-full min-h-32 place-items-center text-center">
      <div className="max-w-60">
        <Icon name="voice" className="mx-auto mb-3 size-8 text-edge" />
        <p className="font-medium">{live ? "Say something" : "Nothing said yet"}</p>
        <p className="mt-1 text-sm text-muted text-balance">
          {onPhone
            ? "Who spoke when, the keys you press and the marks of your bot appear here."
            : "What you and your bot say appears here as you talk."}
        </p>
      </div>
    </div>
  );
}
