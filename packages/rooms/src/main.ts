#!/usr/bin/env node
// The room server alone. Settings come from the environment.
import { readableLog } from "@vocalhost/protocol";
import { styleText } from "node:util";
import { pino } from "pino";
import { readConfig } from "./config.ts";
import { startRoomServer } from "./room-server.ts";

try {
  const { options, logLevel, logFormat, isSecretNew } = readConfig();
  const isSupervised = process.send !== undefined;
  const destination = pino.destination({
    fd: 1,
    sync: true,
    maxLength: 1024 * 1024,
    retryEAGAIN: () => false,
  });
  destination.on("error", () => undefined); // a full disk under the log ends no call
  for (const output of [process.stdout, process.stderr]) output.on("error", () => undefined);
  const style = (name: "dim" | "yellow" | "red", text: string): string => styleText(name, text);
  const readable = {
    write: (line: string) => destination.write(`${readableLog(line, { style, isVerbose: true })}\n`),
  };
  const isText = (logFormat ?? (process.stdout.isTTY ? "text" : "json")) === "text";
  const log = pino({ level: logLevel, base: { process: "rooms" } }, isText ? readable : destination);
  const server = await startRoomServer({ ...options, log });
  if (!isSupervised) {
    const secret = isSecretNew ? `, secret for this run ${options.apiSecret}` : "";
    process.stdout.write(`Rooms at ${server.url}, media on UDP port ${server.udpPort}\n`);
    process.stdout.write(`API key ${options.apiKey}${secret}\n`);
  }
  let asked = 0;
  const end = (): void => {
    asked += 1;
    if (asked > 1) process.exit(1); // a second signal forces the end
    void server[Symbol.asyncDispose]().then(() => process.exit(0));
  };
  process.on("SIGINT", end).on("SIGTERM", end).on("disconnect", end); // the supervisor is gone
  process.send?.({ type: "listening" });
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}
