import { instanceVariables, transportNames, type TransportName } from "@vocalhost/protocol";
import { isIP } from "node:net";
import type { MediaReach } from "../media/messages.ts";
import type { LogLevel } from "../runtime/runtime-log.ts";

/** Settings that a driver gives an instance. */
export interface InstanceConfig {
  instanceId: string;
  token: string;
  /** Holds `address`, `alive.json` and exit records. */
  folder: string;
  /** Whether the folder contains prepared files, and no others can be created. */
  hasSharedFiles: boolean;
  /** Receives all records instead of the folder. */
  terminationMessageFile: string | undefined;
  /** URL to notify when it accepts requests. */
  readyEndpoint: string | undefined;
  /** The address by which others reach it; undefined: the one it listens on. */
  ip: string | undefined;
  host: string;
  port: number;
  heartbeatMs: number;
  aloneMs: number;
  /** The bot's file, relative to the working folder; found by its default name when missing. */
  bot: string | undefined;
  logLevel: LogLevel;
  opusComplexity: number;
  /** The transport its session will probably use. */
  expects: TransportName | undefined;
  reach: MediaReach;
  /** Module of the voice filter's engine. */
  vivaEngine: string | undefined;
}

type Environment = Record<string, string | undefined>;

/** Returns where to put a bootstrap payload, and the instance's folder; undefined when none is expected. */
export function awaitedBootstrap(
  environment: Environment = process.env,
): { environment: Environment; folder: string } | undefined {
  const folder = environment[instanceVariables.folder];
  return isHandedOver(environment) && folder ? { environment, folder } : undefined;
}

function isHandedOver(environment: Environment): boolean {
  return environment[instanceVariables.bootstrap] === "stdin";
}

/** Removes this package's variables from the environment, so that the bot sees its own only. */
export function takeInstanceConfig(environment: Environment = process.env): InstanceConfig {
  const config = readInstanceConfig(environment);
  for (const name of Object.values(instanceVariables)) delete environment[name];
  environment["ENV"] ??= "production";
  return config;
}

function readInstanceConfig(environment: Environment): InstanceConfig {
  const required = (name: string): string => {
    const value = environment[name];
    if (value) return value;
    throw new Error(`${name} is not set. This program is started by the hosted service, not by hand.`);
  };
  return {
    instanceId: required(instanceVariables.id),
    token: required(instanceVariables.token),
    folder: required(instanceVariables.folder),
    hasSharedFiles: isHandedOver(environment),
    terminationMessageFile: environment[instanceVariables.terminationMessage] || undefined,
    readyEndpoint: environment[instanceVariables.readyUrl] || undefined,
    ip: environment[instanceVariables.ip] || undefined,
    ...parseListen(environment[instanceVariables.listen] || "127.0.0.1:0"),
    heartbeatMs: parseMs(environment, instanceVariables.heartbeatMs, 5_000),
    aloneMs: parseMs(environment, instanceVariables.aloneMs, 120_000),
    bot: environment[instanceVariables.bot] || undefined,
    vivaEngine: environment[instanceVariables.vivaEngine] || undefined,
    reach: {
      port: parsePort(environment, instanceVariables.mediaPort),
      addresses: (environment[instanceVariables.mediaAddress] ?? "").split(",").filter(Boolean),
    },
    logLevel: parseLogLevel(environment["LOG_LEVEL"]),
    opusComplexity: parseComplexity(environment["VOCALHOST_OPUS_COMPLEXITY"]),
    // A newer service may name transports that this version does not know.
    expects: transportNames.find((name) => name === environment[instanceVariables.expects]),
  };
}

function parseListen(text: string): { host: string; port: number } {
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(text) ?? [];
  const host = bracketed ?? plain ?? "";
  if (isIP(host) > 0 && Number(port) <= 65_535) return { host, port: Number(port) };
  throw new Error(`${instanceVariables.listen} must be address:port, got "${text}"`);
}

function parsePort(environment: Environment, name: string): number | undefined {
  const text = environment[name];
  if (!text) return undefined;
  const port = Number(text);
  if (Number.isInteger(port) && port > 0 && port <= 65_535) return port;
  throw new Error(`${name} must be a port, got "${text}"`);
}

function parseMs(environment: Environment, name: string, defaultMs: number): number {
  const ms = Number(environment[name] || defaultMs);
  if (Number.isInteger(ms) && ms > 0) return ms;
  throw new Error(`${name} must be a whole number of milliseconds, got "${environment[name]}"`);
}

const LOG_LEVELS: Record<string, LogLevel> = {
  TRACE: "trace",
  DEBUG: "debug",
  INFO: "info",
  WARNING: "warn",
  WARN: "warn",
  ERROR: "error",
};

// This is the bot's variable: an invalid value must not keep the bot from running.
function parseLogLevel(text: string | undefined): LogLevel {
  return LOG_LEVELS[text?.trim().toUpperCase() ?? ""] ?? "info";
}

function parseComplexity(text: string | undefined): number {
  const complexity = Number(text || 5);
  return Number.isInteger(complexity) && complexity >= 0 && complexity <= 10 ? complexity : 5;
}
