import { useEffect, useId, useRef, useState, type ReactNode } from "react";
import { Button, IconButton } from "../../shared/button.tsx";
import { Failed } from "./notice.tsx";

interface DialogProps {
  open: boolean;
  title: string;
  onClose: () => void;
  children: ReactNode;
}

/** The browser's own: it keeps the focus, closes on Escape, and everything below is inert. */
export function Dialog({ open, title, onClose, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    if (open) dialog.current?.showModal();
    else dialog.current?.close();
  }, [open]);
  return (
    <dialog
      ref={dialog}
      aria-labelledby={id}
      className="m-auto max-h-[calc(100dvh-2rem)] w-[min(32rem,calc(100vw-2rem))] rounded-2xl border border-line bg-surface p-6 text-ink shadow-xl backdrop:bg-black/40"
      onClose={onClose}
      onClick={(event) => {
        if (event.target === dialog.current) onClose(); // the backdrop
      }}
    >
      <div className="flex items-start justify-between gap-4">
        <h2 id={id} className="text-lg font-semibold [overflow-wrap:anywhere]">
          {title}
        </h2>
        <IconButton icon="close" label="Close" className="-mt-2 -mr-2" onClick={onClose} />
      </div>
      {open && children}
    </dialog>
  );
}

interface ConfirmProps {
  open: boolean;
  title: string;
  /** The consequence of the action. */
  children: ReactNode;
  /** "Delete agent": what the button says. */
  action: string;
  danger?: boolean;
  /** Has to be typed before the button works. */
  typed?: string;
  onClose: () => void;
  /** Closes when it resolves; stays open and says why when it rejects. */
  onConfirm: () => Promise<unknown>;
}

/** Asks before something that cannot be taken back. */
export function ConfirmDialog(props: ConfirmProps) {
  const { open, title, children, action, danger = false, typed, onClose, onConfirm } = props;
  return (
    <Dialog open={open} title={title} onClose={onClose}>
      <div className="mt-2 grid gap-4 text-sm text-pretty">
        <div className="[overflow-wrap:anywhere] text-muted">{children}</div>
        <ConfirmForm
          {...{ action, danger, onClose, onConfirm }}
          {...(typed === undefined ? {} : { typed })}
        />
      </div>
    </Dialog>
  );
}

function ConfirmForm(props: Pick<ConfirmProps, "action" | "danger" | "typed" | "onClose" | "onConfirm">) {
  const { action, danger, typed, onClose, onConfirm } = props;
  const [text, setText] = useState("");
  const [state, setState] = useState<{ busy: boolean; error?: unknown }>({ busy: false });
  const id = useId();
  const submit = () => {
    setState({ busy: true });
    onConfirm().then(onClose, (error: unknown) => setState({ busy: false, error }));
  };
  return (
    <form
      className="grid gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      {typed !== undefined && (
        <div>
          <label htmlFor={id} className="mb-1.5 block">
            Type <strong className="font-mono [overflow-wrap:anywhere]">{typed}</strong> to confirm
          </label>
          <input
            id={id}
            autoComplete="off"
            spellCheck={false}
            className="h-11 w-full rounded-xl border border-edge bg-surface px-3"
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
        </div>
      )}
      {state.error !== undefined && <Failed error={state.error} />}
      <div className="flex justify-end gap-2">
        <Button size="small" onClick={onClose}>
          Cancel
        </Button>
        <Button
          type="submit"
          size="small"
          look={danger ? "danger" : "primary"}
          disabled={state.busy || (typed !== undefined && text !== typed)}
        >
          {state.busy ? "Working…" : action}
        </Button>
      </div>
    </form>
  );
}
