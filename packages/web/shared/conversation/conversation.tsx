import { useEffect, useRef } from "react";
import { Button } from "../button.tsx";
import { isOpen, type Phase } from "../events/phase.ts";
import { Icon } from "../icon.tsx";
import { DialPad } from "../phone/dial-pad.tsx";
import type { Keypad } from "../phone/keypad.ts";
import { lastFinished, toPlainText, type TranscriptEntry } from "../transcript/transcript.ts";
import { useCopy } from "../use-copy.ts";
import { TextBox } from "./text-box.tsx";
import { Turn } from "./turn.tsx";

interface ConversationProps {
  phase: Phase;
  entries: TranscriptEntry[];
  onPhone: boolean;
  keypad: Keypad;
  onSend: (text: string) => void;
}

/** The transcript, and a text box. */
export function Conversation({ phase, entries, onPhone, keypad, onSend }: ConversationProps) {
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
      <Entries {...{ phase, entries, onPhone }} />
      {onPhone ? (
        <DialPad open={isOpen(phase)} keypad={keypad} />
      ) : (
        <TextBox live={phase.name === "live"} onSend={onSend} />
      )}
      <p aria-live="polite" className="sr-only">
        {lastFinished(entries)}
      </p>
    </section>
  );
}

const NEAR_END_PX = 80;

function Entries({ phase, entries, onPhone }: Pick<ConversationProps, "phase" | "entries" | "onPhone">) {
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
        <NothingYet live={phase.name === "live"} onPhone={onPhone} />
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

function NothingYet({ live, onPhone }: { live: boolean; onPhone: boolean }) {
  return (
    <div className="grid h-full min-h-32 place-items-center text-center">
      <div className="max-w-60">
        <Icon name="voice" className="mx-auto mb-3 size-8 text-edge" />
        <p className="font-medium">{live ? "Say something" : "Nothing said yet"}</p>
        <p className="mt-1 text-sm text-muted text-balance">
          {onPhone
            ? "Who spoke when, the keys you press and your bot's marks appear here."
            : "What you and your bot say appears here as you talk."}
        </p>
      </div>
    </div>
  );
}
