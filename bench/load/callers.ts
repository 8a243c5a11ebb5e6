import type { LoadAnswer, LoadCommand, LoadSettings } from "./commands.ts";

/** One session of the load. */
export interface Caller {
  readonly connectMs: number;
  readonly serverSsrc?: number;
  /** Sends the next 20 ms. */
  speak(): void;
  close(): void;
}

export type OpenCaller = (index: number, counts: Counts) => Promise<Caller>;

export interface Counts {
  received: number;
  gapsMs: number[];
}

const PACKET_MS = 20;
const CONNECTING_AT_ONCE = 4;

export function readSettings(): LoadSettings {
  return JSON.parse(process.argv[2] ?? "{}") as LoadSettings;
}

/** Serves a benchmark's commands: opens callers and lets each speak every 20 ms, at its own phase. */
export function serveLoad(open: OpenCaller): void {
  const callers: { caller: Caller; dueMs: number }[] = [];
  const counts: Counts = { received: 0, gapsMs: [] };
  let lateMs: number[] = [];
  let sent = 0;
  let opened = 0;

  async function addOne(): Promise<void> {
    const caller = await open(opened++, counts);
    callers.push({ caller, dueMs: performance.now() + Math.random() * PACKET_MS });
  }

  async function execute(command: LoadCommand): Promise<void> {
    if (command.type === "add") {
      for (let left = command.count; left > 0; left -= CONNECTING_AT_ONCE)
        await Promise.all(Array.from({ length: Math.min(left, CONNECTING_AT_ONCE) }, addOne));
    }
    if (command.type === "remove") for (const { caller } of callers.splice(-command.count)) caller.close();
    if (command.type === "restart") {
      lateMs = [];
      sent = 0;
      counts.received = 0;
      counts.gapsMs = [];
    }
  }

  // One timer for all callers: a timer each would cost more than the sending.
  function turn(): void {
    setTimeout(turn, 1);
    const nowMs = performance.now();
    for (const entry of callers) {
      if (entry.dueMs > nowMs) continue;
      entry.caller.speak();
      sent += 1;
      lateMs.push(nowMs - entry.dueMs);
      entry.dueMs += PACKET_MS;
      if (nowMs - entry.dueMs > 10 * PACKET_MS) entry.dueMs = nowMs; // do not catch up in a burst
    }
  }

  function answer(): LoadAnswer {
    return {
      sessions: callers.length,
      lateMs,
      sent,
      received: counts.received,
      gapsMs: counts.gapsMs,
      connectMs: callers.map(({ caller }) => caller.connectMs),
      serverSsrcs: callers.flatMap(({ caller }) => caller.serverSsrc ?? []),
    };
  }

  process.on("message", (command: LoadCommand) => {
    execute(command).then(
      () => process.send?.(answer()),
      (error: Error) => process.send?.({ error: error.stack ?? error.message }),
    );
  });
  process.on("disconnect", () => process.exit());
  turn();
}
