import type { Log } from "@vocalhost/base/log";
import type { Engine } from "./engine.ts";

const AGAIN_MS = 1_000;

/** Calls `changed` whenever a container with this label may have changed, and after each gap in the events. */
export function watchEvents(
  engine: Engine,
  { label, changed, log }: { label: string; changed(): void; log: Log },
): Disposable {
  let stream: (NodeJS.ReadableStream & { destroy(): void }) | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  let isLost = false;

  async function listen(): Promise<void> {
    try {
      stream = await engine.events(label);
      if (isClosed) return stream.destroy();
      if (isLost) log.info({}, "the container engine is back");
      isLost = false;
      changed();
      stream.on("data", changed);
      stream.on("error", () => undefined);
      stream.once("close", again);
    } catch (error) {
      if (!isLost) log.warn({ err: error }, "no events of the container engine, trying again");
      isLost = true;
      again();
    }
  }

  function again(): void {
    if (isClosed) return;
    isLost = true;
    timer = setTimeout(() => void listen(), AGAIN_MS).unref();
  }

  void listen();
  return {
    [Symbol.dispose]() {
      isClosed = true;
      clearTimeout(timer);
      stream?.destroy();
    },
  };
}
