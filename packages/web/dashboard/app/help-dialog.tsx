import { useStore } from "../../shared/use-store.ts";
import { Dialog } from "../ui/dialog.tsx";
import { CheckField } from "../ui/field.tsx";
import { helpOpen, shortcuts, singleKeys } from "./shortcuts.ts";

export function HelpDialog() {
  const open = useStore(helpOpen);
  const keysOn = useStore(singleKeys) === "on";
  return (
    <Dialog open={open} title="Keys and help" onClose={() => helpOpen.set(false)}>
      <dl className="mt-3 grid grid-cols-[auto_1fr] items-center gap-x-4 gap-y-2 text-sm">
        {shortcuts.map(({ keyName, action }) => (
          <div key={keyName} className="contents">
            <dt>
              <kbd className="inline-block min-w-8 rounded-md border border-line bg-sunken px-2 py-0.5 text-center font-mono text-xs">
                {keyName}
              </kbd>
            </dt>
            <dd>{action}</dd>
          </div>
        ))}
      </dl>
      <div className="mt-4">
        <CheckField
          label="Use these keys"
          checked={keysOn}
          onChange={(checked) => singleKeys.set(checked ? "on" : "off")}
        />
      </div>
      <p className="mt-3 text-sm text-muted">
        Everything this page does goes through the{" "}
        <a className="text-accent-deep underline underline-offset-2" href="/v1/docs">
          REST interface
        </a>
        , so it can be scripted.
      </p>
    </Dialog>
  );
}
