/** Detects a session without activity. */
export interface IdleWatch {
  active(): void;
  /** Sets the timeout; null: never. */
  allow(seconds: number | null): void;
  end(): void;
}

export interface IdleWatchOptions {
  /** Whether something is active on its own, such as the bot's voice. */
  isBusy(): boolean;
  idle(seconds: number): void;
}

export function createIdleWatch({ isBusy, idle }: IdleWatchOptions): IdleWatch {
  let allowedMs: number | undefined;
  let lastMs = performance.now();
  let timer: NodeJS.Timeout | undefined;

  function look(): void {
    if (allowedMs === undefined) return;
    if (isBusy()) lastMs = performance.now();
    const leftMs = lastMs + allowedMs - performance.now();
    if (leftMs <= 0) return idle(allowedMs / 1000);
    // Activity of the bot counts up to the last check, so checks are frequent.
    timer = setTimeout(look, Math.min(leftMs, Math.max(allowedMs / LOOKS, 1)));
    timer.unref();
    return undefined;
  }

  return {
    active: () => (lastMs = performance.now()),
    allow(seconds) {
      clearTimeout(timer);
      allowedMs = seconds === null ? undefined : seconds * 1000;
      lastMs = performance.now();
      look();
    },
    end() {
      allowedMs = undefined;
      clearTimeout(timer);
    },
  };
}

const LOOKS = 10;
