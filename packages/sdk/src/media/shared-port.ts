import { openSharedPort } from "@vocalhost/rooms/native";

/** The UDP port that all connections share, held from the first connection until the end. */
export interface SharedPort {
  /** Throws a `MediaPortError` when the port is not available. */
  open(): void;
  close(): void;
}

/**
 * The native library aborts the process when a connection cannot open its port. It is therefore opened here first,
 * where a failure is an exception, and kept.
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
