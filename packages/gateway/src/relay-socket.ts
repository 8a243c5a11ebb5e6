import type { Socket } from "node:net";
import { closeFrame, createFrameTracker } from "./frame-tracker.ts";
import type { GatewayTiming } from "./gateway-options.ts";

/** Two sockets joined into one. */
export interface RelayedSocket {
  /** Resolves when both ends are closed. */
  readonly ended: Promise<void>;
  /** Called periodically: disconnects peers that are silent or read nothing. */
  check(nowMs: number): void;
  /** Ends the call with this code at the next frame boundary. */
  finish(code: number): void;
}

export interface RelaySocketOptions {
  client: Socket;
  instance: Socket;
  /** Bytes already received from each side. */
  fromClient: Buffer;
  fromInstance: Buffer;
  timing: Pick<GatewayTiming, "stalledMs" | "silentMs" | "goodbyeMs">;
  relayBytes: number;
  /** Data arrives from both sides every 15 s, because the instance pings. */
  isPinged: boolean;
}

/**
 * Relays bytes in both directions without decoding them. Backpressure of one side pauses the other. Only frame
 * headers towards the client are followed, so that it gets a close code when its instance is lost.
 */
export function relaySocket(options: RelaySocketOptions): RelayedSocket {
  const { client, instance, timing, relayBytes } = options;
  const tracker = createFrameTracker();
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  const toClient = createFlow(instance, client);
  const toInstance = createFlow(client, instance);
  let finishing: number | undefined;
  let isLeaving = false;
  const timers: NodeJS.Timeout[] = [];

  const onInstanceData = (chunk: Buffer): void => {
    if (finishing === undefined) {
      tracker.push(chunk);
      toClient.write(chunk);
      return;
    }
    const rest = chunk.subarray(0, tracker.missingBytes);
    tracker.push(rest);
    client.write(rest);
    if (tracker.atBoundary) sayGoodbye(finishing);
  };

  function cutAfter(ms: number): void {
    isLeaving = true;
    const cut = (): void => {
      client.destroy();
      instance.destroy();
    };
    timers.push(setTimeout(cut, ms));
  }

  function sayGoodbye(code: number): void {
    // The last bytes may still be on their way to a slow reader.
    cutAfter(timing.stalledMs);
    client.once("finish", () => cutAfter(timing.goodbyeMs));
    instance.off("data", onInstanceData).resume();
    client.off("data", toInstance.write).resume(); // keeps reading, to see the client's close frame
    if (!client.writableEnded) {
      if (tracker.atBoundary && !tracker.closing) client.end(closeFrame(code));
      else client.end();
    }
    instance.end();
  }

  function finish(code: number): void {
    if (finishing !== undefined || client.destroyed) return;
    finishing = code;
    cutAfter(timing.goodbyeMs);
    // The gateway waits for the end of a started frame, and cuts one that is too long.
    const canWait = tracker.missingBytes > 0 && tracker.missingBytes + client.writableLength <= relayBytes;
    if (tracker.atBoundary || !canWait || instance.readableEnded) sayGoodbye(code);
    else instance.resume();
  }

  function onInstanceGone(): void {
    if (client.writableEnded) return;
    sayGoodbye(INSTANCE_LOST);
  }

  function onClientGone(): void {
    cutAfter(timing.goodbyeMs);
    if (!instance.writableEnded) instance.end();
  }

  let open = 2;
  const onClosed = (): void => {
    open -= 1;
    if (open > 0) return;
    for (const timer of timers) clearTimeout(timer);
    resolve();
  };

  for (const socket of [client, instance]) socket.on("error", () => undefined); // "close" follows
  instance.on("data", onInstanceData).on("drain", toInstance.drained).once("end", onInstanceGone);
  client.on("data", toInstance.write).on("drain", toClient.drained).once("end", onClientGone);
  whenClosed(instance, () => (onInstanceGone(), onClosed()));
  whenClosed(client, () => (onClientGone(), onClosed()));
  // A client that ended before this point emits no further event.
  if (client.readableEnded) onClientGone();
  if (instance.readableEnded) onInstanceGone();
  if (options.fromInstance.length > 0) onInstanceData(options.fromInstance);
  if (options.fromClient.length > 0) toInstance.write(options.fromClient);
  toClient.start();
  toInstance.start();

  return {
    ended,
    finish,
    check(nowMs) {
      if (isLeaving) return;
      if (toClient.heldMs(nowMs) > timing.stalledMs || toInstance.heldMs(nowMs) > timing.stalledMs)
        return finish(OVERFLOW);
      if (!options.isPinged) return;
      if (toClient.silentMs(nowMs) > timing.silentMs) return sayGoodbye(INSTANCE_LOST);
      if (toInstance.silentMs(nowMs) > timing.silentMs) client.destroy();
    },
  };
}

export const GOING_AWAY = 1001;
const INSTANCE_LOST = 1011;
const OVERFLOW = 1013;

interface Flow {
  write(chunk: Buffer): void;
  drained(): void;
  start(): void;
  /** How long the reader has taken nothing. */
  heldMs(nowMs: number): number;
  /** How long the writer has sent nothing. */
  silentMs(nowMs: number): number;
}

/** One direction. Times are taken when the caller checks, not per message. */
function createFlow(from: Socket, to: Socket): Flow {
  let isHeld = false;
  let heldSinceMs: number | undefined;
  let heardBytes = -1;
  let heardAtMs = 0;
  return {
    write(chunk) {
      if (to.writableEnded || to.write(chunk)) return;
      isHeld = true;
      from.pause();
    },
    drained() {
      isHeld = false;
      heldSinceMs = undefined;
      from.resume();
    },
    start() {
      if (!isHeld) from.resume();
    },
    heldMs(nowMs) {
      if (!isHeld) return 0;
      heldSinceMs ??= nowMs;
      return nowMs - heldSinceMs;
    },
    silentMs(nowMs) {
      if (isHeld || from.bytesRead !== heardBytes) {
        heardBytes = from.bytesRead;
        heardAtMs = nowMs;
      }
      return nowMs - heardAtMs;
    },
  };
}

function whenClosed(socket: Socket, run: () => void): void {
  if (socket.closed) run();
  else socket.once("close", run);
}
