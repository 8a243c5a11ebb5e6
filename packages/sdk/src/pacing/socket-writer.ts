import { writeSync } from "node:fs";

/** Writes to a socket that another thread reads. No other code writes to it. */
export interface SocketWriter {
  write(bytes: Uint8Array): void;
  /** Calls back when everything is on the wire. */
  whenFlushed(flushed: () => void): void;
  /** Drops unsent bytes, and never touches the socket again. */
  release(): void;
}

export interface SocketWriterOptions {
  fd: number;
  unreadMaxBytes: number;
  /** Called once when more bytes wait than allowed. */
  unread(bytes: number): void;
}

const AGAIN_MS = 10; // a client that does not read needs no faster retries

export function createSocketWriter(options: SocketWriterOptions): SocketWriter {
  const { fd } = options;
  let waiting: Uint8Array[] = [];
  let waitingBytes = 0;
  let timer: NodeJS.Timeout | undefined;
  let flushed: (() => void)[] = [];
  let isOver = false; // released, or the connection is gone
  let isTold = false;

  function keep(bytes: Uint8Array): void {
    waiting.push(bytes);
    waitingBytes += bytes.length;
    if (waitingBytes > options.unreadMaxBytes && !isTold) {
      isTold = true;
      options.unread(waitingBytes);
    }
    timer ??= setTimeout(tryAgain, AGAIN_MS);
  }

  function tryAgain(): void {
    timer = undefined;
    for (let first = waiting[0]; first; first = waiting[0]) {
      const done = attempt(first);
      waitingBytes -= done;
      if (done < first.length) {
        waiting[0] = first.subarray(done);
        timer = isOver ? undefined : setTimeout(tryAgain, AGAIN_MS);
        break;
      }
      waiting.shift();
    }
    if (waiting.length === 0) tellFlushed();
  }

  /** Returns how many of the bytes the kernel accepted. */
  function attempt(bytes: Uint8Array): number {
    if (isOver) return 0;
    try {
      return writeSync(fd, bytes);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") end(); // the thread that reads the socket gets the error too
      return 0;
    }
  }

  function end(): void {
    isOver = true;
    waiting = [];
    waitingBytes = 0;
    clearTimeout(timer);
    tellFlushed();
  }

  function tellFlushed(): void {
    for (const tell of flushed.splice(0)) tell();
  }

  return {
    write(bytes) {
      if (isOver) return;
      const done = waiting.length > 0 ? 0 : attempt(bytes);
      if (done < bytes.length && !isOver) keep(bytes.subarray(done));
    },
    whenFlushed(tell) {
      if (waiting.length === 0) tell();
      else flushed.push(tell);
    },
    release: end,
  };
}
