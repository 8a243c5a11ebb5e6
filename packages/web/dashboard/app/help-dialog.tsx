import { KeyList } from "../../shared/key-list.tsx";
import { useStore } from "../../shared/use-store.ts";
import { Dialog } from "../ui/dialog.tsx";
import { CheckField } from "../ui/field.tsx";
import { helpOpen, shortcuts, singleKeys } from "./shortcuts.ts";

export function HelpDialog() {
  const open = useStore(helpOpen);
  const keysOn = useStore(singleKeys) === "on";
  return (
    <Dialog open={open} title="Shortcuts and help" onClose={() => helpOpen.set(false)}>
      <KeyList keys={shortcuts} className="mt-3" />
      <div className="mt-4">
        <CheckField
          label="Use these shortcuts"
          checked={keysOn}
          onChange={(checked) => singleKeys.set(checked ? "on" : "off")}
        />
      </div>
      <p className="mt-3 text-sm text-muted">
        Everything this page does goes through the{" "}
        <a className="text-accent-deep underline underline-offset-2" href="/v1/docs">
          REST API
        </a>
        , so it can be scripted.
      </p>
    </Dialog>
  );
}
