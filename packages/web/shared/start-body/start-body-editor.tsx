import { useId } from "react";
import { Disclosure } from "../disclosure.tsx";
import type { WritableStore } from "../store.ts";
import { useStore } from "../use-store.ts";
import { parseStartBody } from "./parse-start-body.ts";

/** JSON the bot receives as `body` with the next session. */
export function StartBodyEditor({ store }: { store: WritableStore<string> }) {
  const id = useId();
  const text = useStore(store);
  const body = parseStartBody(text);
  const notes = { none: undefined, value: "will be sent", mistake: "not valid JSON" };
  return (
    <Disclosure
      title="Start body"
      note={
        <span className={body.kind === "mistake" ? "text-danger" : "text-accent"}>{notes[body.kind]}</span>
      }
    >
      <label className="mb-1.5 block text-[0.8125rem] text-muted" htmlFor={id}>
        JSON your bot receives as <code className="font-mono">args.body</code>. Leave empty to send none.
      </label>
      <textarea
        id={id}
        className="block min-h-28 w-full resize-y rounded-xl border border-edge bg-surface p-3 font-mono text-[0.8125rem] leading-relaxed aria-invalid:border-danger"
        placeholder={'{ "customer": "Ada" }'}
        spellCheck={false}
        autoCapitalize="off"
        autoComplete="off"
        aria-invalid={body.kind === "mistake"}
        aria-describedby={`${id}-mistake`}
        value={text}
        onChange={(event) => store.set(event.target.value)}
      />
      <p id={`${id}-mistake`} role="status" className="mt-1.5 min-h-5 text-[0.8125rem] text-danger">
        {body.kind === "mistake" && body.message}
      </p>
    </Disclosure>
  );
}
