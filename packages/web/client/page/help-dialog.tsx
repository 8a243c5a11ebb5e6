import { useEffect, useRef } from "react";
import { IconButton } from "../../shared/button.tsx";
import { KeyList } from "../../shared/key-list.tsx";
import { useStore } from "../../shared/use-store.ts";
import { helpOpen, singleKeys } from "../state/client-state.ts";
import { shortcuts } from "./use-shortcuts.ts";

export function HelpDialog() {
  const open = useStore(helpOpen);
  const keysOn = useStore(singleKeys) === "on";
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (open) dialog.current?.showModal();
    else dialog.current?.close();
  }, [open]);
  return (
    <dialog
      ref={dialog}
      aria-labelledby="help-title"
      className="m-auto w-[min(30rem,calc(100vw-2rem))] rounded-2xl border border-line bg-surface p-6 text-ink shadow-xl backdrop:bg-black/40"
      onClose={() => helpOpen.set(false)}
      onClick={(event) => {
        if (event.target === dialog.current) helpOpen.set(false); // the backdrop
      }}
    >
      <div className="flex items-start justify-between">
        <h2 id="help-title" className="text-lg font-semibold">
          Talking to your bot
        </h2>
        <IconButton icon="close" label="Close" className="-mt-2 -mr-2" onClick={() => helpOpen.set(false)} />
      </div>
      <p className="mt-1 text-muted">
        Connect and talk as you would on the phone. Your bot answers when you pause; talk over it to
        interrupt. The circle in the middle is your bot's voice, the ring around it is yours.
      </p>
      <h3 className="mt-5 mb-2 text-sm font-semibold">Shortcuts</h3>
      <KeyList keys={shortcuts} />
      <label className="mt-5 flex cursor-pointer items-center gap-2.5 text-sm">
        <input
          type="checkbox"
          className="size-4 accent-(--accent)"
          checked={keysOn}
          onChange={(event) => singleKeys.set(event.target.checked ? "on" : "off")}
        />
        Use these shortcuts
      </label>
    </dialog>
  );
}
