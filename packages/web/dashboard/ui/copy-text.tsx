import { IconButton } from "../../shared/button.tsx";
import { useCopy } from "../../shared/use-copy.ts";

/** A text to be taken elsewhere: an id, a key. */
export function CopyText({ text, shown, label }: { text: string; shown?: string; label: string }) {
  const { copied, copy } = useCopy();
  return (
    <span className="inline-flex max-w-full items-center gap-1">
      <code className="min-w-0 font-mono text-[0.8125rem] [overflow-wrap:anywhere]">{shown ?? text}</code>
      <IconButton
        icon={copied ? "check" : "copy"}
        label={copied ? "Copied" : `Copy ${label}`}
        className="size-8"
        onClick={() => copy(text)}
      />
    </span>
  );
}

/** Enough of an id to tell it from others. */
export function toShortId(id: string): string {
  return id.slice(0, 8);
}
