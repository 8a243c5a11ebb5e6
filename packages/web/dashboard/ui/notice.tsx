import { useEffect, useState, type ReactNode } from "react";
import { Button } from "../../shared/button.tsx";
import { Icon, type IconName } from "../../shared/icon.tsx";
import { toProblem } from "../data/problem.ts";

/** There is nothing, and that is no error: says what would be here and how it gets here. */
export function Empty({ icon, title, children }: { icon: IconName; title: string; children?: ReactNode }) {
  return (
    <div className="grid justify-items-center gap-1.5 px-6 py-12 text-center">
      <span className="mb-1 grid size-11 place-items-center rounded-2xl bg-sunken text-muted">
        <Icon name={icon} />
      </span>
      <p className="font-semibold">{title}</p>
      {children && <div className="max-w-md text-sm text-pretty text-muted">{children}</div>}
    </div>
  );
}

/** The service's error message, and a button to try again. */
export function Failed({ error, retry }: { error: unknown; retry?: () => void }) {
  const { title, detail } = toProblem(error);
  return (
    <Alert title={title} {...(retry ? { action: <Again retry={retry} /> } : {})}>
      {detail}
    </Alert>
  );
}

function Again({ retry }: { retry: () => void }) {
  return (
    <Button size="small" icon="refresh" onClick={retry}>
      Try again
    </Button>
  );
}

interface AlertProps {
  title: string;
  tone?: "bad" | "busy";
  action?: ReactNode;
  children?: ReactNode;
}

/** Something that has to be known before the rest of the page. */
export function Alert({ title, tone = "bad", action, children }: AlertProps) {
  const look =
    tone === "bad" ? "border-danger/30 bg-danger-soft text-danger" : "border-warn/30 bg-warn-soft text-warn";
  return (
    <div
      role={tone === "bad" ? "alert" : "status"}
      className={`flex flex-wrap items-start gap-3 rounded-2xl border p-4 ${look}`}
    >
      <Icon name="warning" className="mt-0.5 size-5" />
      <div className="min-w-0 flex-1 text-ink">
        <p className="font-semibold">{title}</p>
        {children && (
          <div className="text-sm text-pretty [overflow-wrap:anywhere] whitespace-pre-line">{children}</div>
        )}
      </div>
      {action}
    </div>
  );
}

const PATIENCE_MS = 8_000;

/** Requests end by themselves; until then this says so, and after a while that it takes long. */
export function Loading({ what }: { what: string }) {
  const [isLong, setLong] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLong(true), PATIENCE_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div role="status" className="grid justify-items-center gap-3 px-6 py-12 text-sm text-muted">
      <span aria-hidden="true" className="flex h-6 items-center gap-1">
        {[0, 1, 2].map((bar) => (
          <span key={bar} className={`h-full w-1 animate-pulse rounded-full bg-edge ${DELAYS[bar] ?? ""}`} />
        ))}
      </span>
      {isLong ? `Loading ${what} is taking longer than usual…` : `Loading ${what}…`}
    </div>
  );
}

const DELAYS = ["", "[animation-delay:150ms]", "[animation-delay:300ms]"];
