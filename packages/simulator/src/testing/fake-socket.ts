import type { CallSocket } from "../place-call-options.ts";

/** A socket whose other end is the test. */
export function createFakeSocket(): FakeSocket {
  const listeners = new Map<string, ((event: never) => void)[]>();
  const sent: Record<string, unknown>[] = [];
  let readyState = 0;

  function emit(type: string, event: object): void {
    for (const listener of listeners.get(type) ?? []) listener(event as never);
  }

  return {
    sent,
    closedWith: undefined,
    get readyState() {
      return readyState;
    },
    send: (text) => void sent.push(JSON.parse(text) as Record<string, unknown>),
    close(code) {
      this.closedWith = code;
      readyState = 2;
    },
    addEventListener: (type: string, listener: (event: never) => void) =>
      void listeners.set(type, [...(listeners.get(type) ?? []), listener]),
    open() {
      readyState = 1;
      emit("open", {});
    },
    say: (message) =>
      emit("message", { data: typeof message === "string" ? message : JSON.stringify(message) }),
    sayBytes: (bytes) => emit("message", { data: bytes }),
    fail: (error) => emit("error", error),
    end(code, reason = "") {
      readyState = 3;
      emit("close", { code, reason });
    },
    events: (name) => sent.filter(({ event }) => event === name),
  };
}

export interface FakeSocket extends CallSocket {
  readonly sent: Record<string, unknown>[];
  closedWith: number | undefined;
  open(): void;
  /** A message of the bot. */
  say(message: object | string): void;
  sayBytes(bytes: Uint8Array): void;
  fail(error: object): void;
  /** The other end closes, or agrees to close. */
  end(code: number, reason?: string): void;
  /** Messages sent under that name. */
  events(name: string): Record<string, unknown>[];
}
