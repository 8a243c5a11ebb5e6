import { useState } from "react";
import { IconButton } from "../button.tsx";

const TEXT_MAX = 4_000;

export const textBoxId = "type-a-message";

/** Typing instead of talking. */
export function TextBox({ live, onSend }: { live: boolean; onSend: (text: string) => void }) {
  const [text, setText] = useState("");
  const ready = live && text.trim() !== "";
  return (
    <form
      className="shrink-0 border-t border-line p-3 sm:px-5"
      onSubmit={(event) => {
        event.preventDefault();
        if (!ready) return;
        onSend(text.trim());
        setText("");
      }}
    >
      <div className="flex items-center rounded-xl border border-edge bg-surface has-focus-visible:outline-2 has-focus-visible:outline-offset-1 has-focus-visible:outline-accent">
        <label className="sr-only" htmlFor={textBoxId}>
          Message to your bot
        </label>
        <input
          id={textBoxId}
          className="h-11 min-w-0 flex-1 bg-transparent px-3.5 text-base placeholder:text-muted focus-visible:outline-none sm:text-[0.9375rem]"
          placeholder={live ? "Type a message" : "Connect to type a message"}
          autoComplete="off"
          enterKeyHint="send"
          maxLength={TEXT_MAX}
          disabled={!live}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        <IconButton
          icon="send"
          label="Send"
          type="submit"
          className="mr-0.5 enabled:text-accent"
          disabled={!ready}
        />
      </div>
    </form>
  );
}
