import type { Clock } from "../clock.ts";

/** The way from the caller's telephone to the bot: loses some of the sound and brings some of it late. */
export function createDelivery(options: DeliveryOptions): Delivery {
  const { clock, send, random, keepsOrder } = options;
  const jitterMs = options.jitterMs ?? 0;
  const lossShare = (options.lossPercent ?? 0) / 100;
  let underWay: { text: string; arrivalMs: number }[] = [];
  let latestMs = -Infinity;
  let cancelTimer = (): void => {};

  function deliver(text: string, delayMs: number): void {
    const wantedMs = clock.nowMs() + delayMs;
    const arrivalMs = keepsOrder ? Math.max(wantedMs, latestMs) : wantedMs;
    latestMs = arrivalMs;
    if (arrivalMs <= clock.nowMs()) return send(text);
    underWay.push({ text, arrivalMs });
    schedule();
  }

  // One timer for all: several could fire in another order than they are due.
  function schedule(): void {
    cancelTimer();
    if (underWay.length === 0) return;
    const nextMs = Math.min(...underWay.map((message) => message.arrivalMs));
    cancelTimer = clock.setTimer(arrive, Math.max(0, nextMs - clock.nowMs()));
  }

  function arrive(): void {
    const dueMs = clock.nowMs() + TIMER_SLACK_MS;
    const arrived = underWay.filter((message) => message.arrivalMs <= dueMs);
    underWay = underWay.filter((message) => message.arrivalMs > dueMs);
    schedule();
    for (const { text } of arrived.sort((a, b) => a.arrivalMs - b.arrivalMs)) send(text);
  }

  function stop(): void {
    cancelTimer();
    underWay = [];
  }

  return {
    losesNext: () => lossShare > 0 && random() < lossShare,
    sendSound: (text) => deliver(text, jitterMs > 0 ? random() * jitterMs : 0),
    sendEvent: (text) => deliver(text, 0),
    flush() {
      const left = underWay;
      stop();
      for (const { text } of left) send(text);
    },
    stop,
  };
}

export interface DeliveryOptions {
  clock: Clock;
  send: (text: string) => void;
  /** From 0 to below 1. */
  random: () => number;
  /** Whether what was sent first also arrives first. */
  keepsOrder: boolean;
  /** Sound comes up to this much late. @default 0 */
  jitterMs?: number;
  /** @default 0 */
  lossPercent?: number;
}

export interface Delivery {
  /** Whether the next chunk of sound goes missing. Ask once per chunk. */
  losesNext(): boolean;
  sendSound(text: string): void;
  /** Marks, keys and the like are not delayed, but do not overtake sound where order is kept. */
  sendEvent(text: string): void;
  /** Sends what is still under way at once. */
  flush(): void;
  /** Forgets what is still under way. */
  stop(): void;
}

const TIMER_SLACK_MS = 0.5; // timers may come a fraction early
