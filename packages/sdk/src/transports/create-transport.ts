import { checkOptions } from "../check-options.ts";
import { openFilterStage, type FilterStage } from "../filters/filter-stage.ts";
import { filterWithoutAsking } from "../filters/viva-filter.ts";
import type { RunnerArguments } from "../bot/runner-arguments.ts";
import { hooksOf } from "./session-hooks.ts";
import type { AssembledTransport, TransportParts } from "./assemble-transport.ts";
import { createRoomTransport } from "./room.ts";
import { createTelephonyTransport } from "./telephony.ts";
import type { Transport, TransportOptions } from "./transport.ts";
import { createWebRtcTransport } from "./webrtc.ts";
import { createWebSocketTransport } from "./websocket.ts";

/** Connects a bot to its session, over any kind of connection. */
export async function createTransport(
  args: RunnerArguments,
  options: TransportOptions = {},
): Promise<Transport> {
  checkTransportOptions(options);
  const parts = await openParts(args, options);
  const transport = await connect(args, parts);
  const { audioOut } = transport.inner;
  parts.hooks.transportCreated(transport, {
    maxMs: parts.lastWordsMs,
    giveUp: () => audioOut.giveUp(),
  });
  if (options.idleTimeoutSecs !== undefined) parts.hooks.idleAfter?.(options.idleTimeoutSecs);
  return transport;
}

function checkTransportOptions(options: TransportOptions): void {
  const of = "createTransport";
  checkOptions(of, options, {
    audioIn: true,
    audioOut: true,
    room: true,
    idleTimeoutSecs: true,
    call: true,
    rtvi: true,
  });
  checkOptions(`audioIn of ${of}`, options.audioIn, { sampleRateHz: true, filter: true, maxQueuedMs: true });
  checkOptions(`audioOut of ${of}`, options.audioOut, {
    sampleRateHz: true,
    maxQueuedMs: true,
    lastWordsMs: true,
  });
  checkOptions(`room of ${of}`, options.room, { hear: true, stay: true, departureTimeoutMs: true });
  checkOptions(`call of ${of}`, options.call, { hangUpOnReturn: true });
  checkOptions(`rtvi of ${of}`, options.rtvi, { autoReady: true, capabilities: true, levels: true });
}

async function connect(args: RunnerArguments, parts: TransportParts): Promise<AssembledTransport> {
  switch (args.kind) {
    case "webrtc":
      return createWebRtcTransport(args, parts);
    case "websocket":
      return args.transportType === "websocket"
        ? createWebSocketTransport(args, parts)
        : createTelephonyTransport(args, parts);
    case "room":
      return createRoomTransport(args, parts);
    default:
      return args satisfies never;
  }
}

async function openParts(args: RunnerArguments, options: TransportOptions): Promise<TransportParts> {
  const hooks = hooksOf(args);
  const inputHz = sampleRate(options.audioIn?.sampleRateHz ?? 16_000, "audioIn");
  const filter = options.audioIn?.filter ?? filterWithoutAsking();
  const openFilter = async (): Promise<FilterStage | undefined> =>
    filter &&
    openFilterStage(filter, {
      sampleRateHz: inputHz,
      sessionId: args.sessionId,
      log: hooks.log,
      signal: args.signal,
    });
  return {
    hooks,
    inputHz,
    outputHz: sampleRate(options.audioOut?.sampleRateHz ?? 24_000, "audioOut"),
    maxQueuedInMs: options.audioIn?.maxQueuedMs ?? 10_000,
    maxQueuedOutMs: options.audioOut?.maxQueuedMs ?? 60_000,
    filter: await openFilter(),
    openFilter,
    autoReady: options.rtvi?.autoReady ?? true,
    capabilities: options.rtvi?.capabilities,
    tellsLevels: options.rtvi?.levels ?? false,
    hear: options.room?.hear ?? "everyone",
    stay: options.room?.stay ?? false,
    departureTimeoutMs: options.room?.departureTimeoutMs ?? 5_000,
    lastWordsMs: options.audioOut?.lastWordsMs,
    hangUpOnReturn: options.call?.hangUpOnReturn ?? true,
  };
}

function sampleRate(sampleRateHz: number, option: string): number {
  if (Number.isInteger(sampleRateHz) && sampleRateHz >= 8_000 && sampleRateHz <= 48_000) return sampleRateHz;
  throw new RangeError(
    `${option}.sampleRateHz must be a whole number from 8000 to 48000, got ${sampleRateHz}`,
  );
}
