import { openSharedPort } from "@vocalhost/rooms/native";

/** The UDP port that all connections share, ours from the first of them to the end. */
export interface SharedPort {
  /** Throws a sentence when it cannot be had. */
  open(): void;
  close(): void;
}

/**
 * A connection that cannot open its port makes the library abort the process, so the port is opened here, where that
 * is only an error, and kept.
 */
export function createSharedPort(port: number | undefined): SharedPort {
  let opened: ReturnType<typeof openSharedPort> | undefined;
  return {
    open() {
      if (port === undefined || opened) return;
      try {
        opened = openSharedPort(port);
      } catch (cause) {
        throw new Error(`UDP port ${port} cannot be opened: another program uses it`, { cause });
      }
    },
    close() {
      opened?.close();
      opened = undefined;
    },
  };
}
