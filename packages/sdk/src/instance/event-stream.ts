import type { InstanceEvent, InstanceStatus } from "@vocalhost/protocol";
import type { FastifyReply } from "fastify";

/** The listeners of `GET /instance/events`: one controller, briefly two during a change of leader. */
export interface EventStream {
  readonly listeners: number;
  /** Answers a request with the current status and every one published later. */
  open(reply: FastifyReply, status: InstanceStatus): void;
  publish(status: InstanceStatus): void;
  /**
   * Publishes a moment later, for changes that need no reaction: it must not compete with the client that is
   * connecting.
   */
  publishSoon(read: () => InstanceStatus): void;
  /** Ends every stream. Resolves when all published events have been sent. */
  end(): Promise<void>;
}

const UNREAD_MAX_BYTES = 256 * 1024; // a controller that stopped reading opens a new stream
const KEEP_ALIVE_MS = 15_000;
const SOON_MS = 500; // the controller is recording the session, and the gateway is connecting

export function createEventStream(changed: (listeners: number) => void): EventStream {
  const replies = new Set<FastifyReply["raw"]>();
  let soon: NodeJS.Timeout | undefined;

  function publish(status: InstanceStatus): void {
    clearTimeout(soon); // this event replaces the delayed one
    soon = undefined;
    const line = lineOf(status);
    for (const raw of replies) {
      if (raw.writableLength > UNREAD_MAX_BYTES) raw.destroy();
      else raw.write(line);
    }
  }

  return {
    get listeners() {
      return replies.size;
    },
    open(reply, status) {
      reply.hijack();
      const { raw } = reply;
      raw.socket?.setKeepAlive(true, KEEP_ALIVE_MS);
      raw.on("error", () => raw.destroy());
      raw.once("close", () => {
        if (replies.delete(raw)) changed(replies.size);
      });
      raw.writeHead(200, { "content-type": "application/x-ndjson", "cache-control": "no-store" });
      raw.write(lineOf(status));
      replies.add(raw);
      changed(replies.size);
    },
    publish,
    publishSoon(read) {
      soon ??= setTimeout(() => publish(read()), SOON_MS);
    },
    async end() {
      clearTimeout(soon);
      await Promise.all([...replies].map((raw) => new Promise<void>((resolve) => raw.end(resolve))));
    },
  };
}

function lineOf(status: InstanceStatus): string {
  return `${JSON.stringify({ type: "status", status } satisfies InstanceEvent)}\n`;
}
