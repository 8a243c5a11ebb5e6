/** What fragments in the pages take for granted: names that the text around them has introduced. */
export const GIVEN = `
import type * as Sdk from "vocalhost";
import type * as Filters from "vocalhost/filters";
import type * as Rooms from "@vocalhost/rooms";
import type { PipecatClient } from "@pipecat-ai/client-js";
import type { Server, ServerResponse } from "node:http";

declare global {
  const args: Sdk.RunnerArguments;
  const transport: Sdk.Transport;
  const audioOut: Sdk.Transport["audioOut"];
  const speech: Sdk.AudioFrame;
  const text: string;
  function transcribe(audio: AsyncIterable<Sdk.AudioFrame>): Promise<void>;
  const { bridge, createTransport, detectTurns, frameMs, heardWords, joinRoom, timeWords }: typeof Sdk;
  const { vivaFilter }: typeof Filters;
  type AudioFilter = Sdk.AudioFilter;
  type RunnerArguments = Sdk.RunnerArguments;
  const client: PipecatClient;
  const server: Server;
  function notFound(response: ServerResponse): void;
  const apiSecret: string;
  const bytes: Uint8Array<ArrayBuffer>;
  const payload: Uint8Array<ArrayBuffer>;
  const username: string;
  const password: string;
  const microphone: AsyncIterable<Int16Array>;
  const speaker: { write(samples: Int16Array): void };
}
`;
