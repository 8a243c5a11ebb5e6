import type { InstanceEvent, InstanceStatus } from "@vocalhost/protocol";
import type { FastifyReply } from "fastify";

/** Everybody who listens to `GET /instance/events`: a controller, for a moment two. */
export interface EventStream {
  readonly listeners: number;
  /** Answers a request with the status now and every one that is published later. */
  open(reply: FastifyReply, status: InstanceStatus): void;
  publish(status: InstanceStatus): void;
  /** The same a moment later, for what nobody acts on: telling must not compete with the client who is just coming. */
  publishSoon(read: () => InstanceStatus): void;
  /** Ends every stream and resolves when what was published has been sent. */
  end(): Promise<void>;
}

const UNREAD_MAX_BYTES = 256 * 1024; // a controller that stopped reading opens a new stream
const KEEP_ALIVE_MS = 15_000;
const SOON_MS = 500; // the controller is writing down that we have the session, the gateway is connecting

export function createEventStream(changed: (listeners: number) => void): EventStream {
  const replies = new Set<FastifyReply["raw"]>();
  let soon: NodeJS.Timeout | undefined;

  function publish(status: InstanceStatus): void {
    clearTimeout(soon); // what it would have told is in here
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
