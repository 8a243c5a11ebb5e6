/** Notices when nothing has happened in a session for too long. */
export interface IdleWatch {
  active(): void;
  /** Null: it may be idle for ever. */
  allow(seconds: number | null): void;
  end(): void;
}

export interface IdleWatchOptions {
  /** Something that goes on by itself, such as the bot's own voice. */
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
    // A voice that ends between two looks counts up to the look; so they are not too far apart.
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
