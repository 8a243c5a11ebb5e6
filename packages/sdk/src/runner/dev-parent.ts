import type { SessionTable } from "../server/session-table.ts";

/** What `vocalhost dev`, which started this process, is told of it. */
export interface DevConnection {
  ready(banner: string): void;
}

/** Reports sessions to the parent process; ends when asked to and idle, or when the parent is gone. */
export function connectToDev({ sessions, end }: DevParts): DevConnection {
  let retired = false;

  function send(message: object): void {
    if (process.connected) process.send?.(message, undefined, undefined, () => undefined); // a lost parent ends us anyway
  }

  function report(): void {
    const list = sessions.list().map(({ id, transport, state }) => ({ id, transport, state }));
    send({ type: "sessions", sessions: list });
    if (retired && list.length === 0) end();
  }

  sessions.onChange(report);
  process.on("disconnect", end);
  process.on("message", (message: { type?: unknown }) => {
    if (message?.type !== "retire") return;
    retired = true;
    report();
  });
  return { ready: (banner) => send({ type: "ready", banner }) };
}

/** Whoever started this process says it better, in words of its own. Returns only if it does not listen. */
export async function tellMisuse(message: string): Promise<void> {
  if (!process.connected) return;
  await new Promise<void>((resolve) =>
    process.send?.({ type: "misused", message }, undefined, undefined, (error) =>
      error ? resolve() : process.exit(2),
    ),
  );
}

interface DevParts {
  sessions: SessionTable;
  end(): void;
}
