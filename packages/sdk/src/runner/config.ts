import {
  carrierNames,
  carriers,
  isCarrier,
  readCarrierAccounts,
  readSignatureKeys,
  type CarrierAccounts,
  type SignatureKeys,
} from "@vocalhost/carriers";
import {
  roomAliases,
  transportNames,
  VoiceFilter,
  withOurVariables,
  type IceServer,
  type TransportName,
} from "@vocalhost/protocol";
import { existsSync, readFileSync, realpathSync, statSync } from "node:fs";
import { isIP } from "node:net";
import { join, resolve } from "node:path";
import { parseEnv } from "node:util";
import type { MediaReach } from "../media/messages.ts";
import type { LogFormat, LogLevel } from "../runtime/runtime-log.ts";
import { findEngine } from "./find-engine.ts";
import { FLAGS, FlagError, type FlagName, type Flags, type FlagValue } from "./flags.ts";
import { parseIceServers } from "./ice-servers.ts";
import type { RoomsConfig } from "./open-rooms.ts";
import { readRoomsConfig } from "./rooms.ts";
import { readTurnConfig, type TurnConfig } from "./turn.ts";
import { messageOf } from "../message-of.ts";

/** Settings of a runner. */
export interface RunnerConfig {
  host: string;
  port: number;
  onlyTransport: TransportName | undefined;
  /** Public host name, without scheme. */
  proxy: string | undefined;
  /** Real path of the folder served under /files/. */
  folder: string | undefined;
  /** Folder and maximum number of clients' uploads. */
  uploads: { folder: string; maxFiles: number } | undefined;
  /** Seconds of silence after which sessions end; null: never. */
  idleTimeoutSecs: number | null;
  socketAuth: "none" | "token";
  iceServers: IceServer[];
  /** TURN servers for which callers and bots get credentials. */
  turn: TurnConfig | undefined;
  reach: MediaReach;
  allowedOrigins: string[];
  logLevel: LogLevel;
  logFormat: LogFormat;
  opusComplexity: number;
  /** Keys that verify carriers' webhooks. */
  signatureKeys: SignatureKeys;
  /** Voice isolation for every session, and its engine's module. */
  voiceFilter: { model: VoiceFilter; engine: string } | undefined;
  rooms: RoomsConfig;
  /** Bearer token that permits placing calls; undefined: no calls. */
  dialoutKey: string | undefined;
  /** Whether phone calls may arrive through rooms. */
  takesCalls: boolean;
  /** Socket path set by `vocalhost dev`, whose front process owns `host` and `port` and forwards connections. */
  devSocket: string | undefined;
  /** Warnings about the settings, for the user. */
  warnings: string[];
}

export type Environment = Record<string, string | undefined>;

/**
 * Merges the working folder's `.env`, which takes precedence, into the environment. Bots see that they run
 * locally.
 */
export function loadEnvironment(workingFolder: string): Environment {
  const file = join(workingFolder, ".env");
  if (existsSync(file)) Object.assign(process.env, parseEnv(readFileSync(file, "utf8")));
  process.env["ENV"] = "local";
  return process.env;
}

/** Reads the accounts at each call, since they may be set while the runner runs. */
export function carrierAccounts(): CarrierAccounts {
  return readCarrierAccounts(process.env);
}

export function readConfig(flags: Flags, given: Environment, workingFolder: string): RunnerConfig {
  requireKnown(flags);
  const environment = withOurVariables(given);
  const warnings: string[] = [];
  const text = (name: FlagName): string | undefined => textSetting(flags, environment, name);
  const host = text("host") ?? "localhost";
  const proxy = parseProxy(text("proxy"), warnings);
  const onlyTransport = parseTransport(text("transport"));
  return {
    host,
    port: parsePort(text("port") ?? "7860"),
    onlyTransport,
    proxy,
    folder: parseFolder("folder", text("folder"), workingFolder),
    uploads: parseUploads(
      parseFolder("uploads-folder", text("uploads-folder"), workingFolder),
      text("uploads-folder-max-files"),
    ),
    idleTimeoutSecs: parseIdleTimeout(text("idle-timeout")),
    socketAuth: parseSocketAuth(text("ws-auth"), { host, proxy, onlyTransport }, warnings),
    iceServers: parseIceServers(flags.known["ice-servers"], environment[variableOf("ice-servers")]),
    turn: asFlagError(() => readTurnConfig(environment)),
    reach: {
      port: parseMediaPort(text("media-port")),
      addresses: listSetting(flags, environment, "media-address").map(parseAddress),
    },
    allowedOrigins: listSetting(flags, environment, "allowed-origins").map(parseOrigin),
    logLevel: parseLogLevel(flags.known.verbose, environment[variableOf("verbose")]),
    logFormat: environment["VOCALHOST_LOG_FORMAT"] === "json" ? "json" : "text",
    opusComplexity: parseComplexity(environment["VOCALHOST_OPUS_COMPLEXITY"] || undefined),
    signatureKeys: checkedKeys(environment),
    voiceFilter: parseVoiceFilter(text("voice-filter"), environment["VOCALHOST_VIVA_ENGINE"] || undefined),
    takesCalls:
      !flags.known["no-dialin"] &&
      parseDialIn(flags.known.dialin ?? environment[variableOf("dialin")], environment, warnings),
    rooms: parseRooms(text("transport"), environment),
    dialoutKey: parseDialoutKey(environment["VOCALHOST_DIALOUT_KEY"] || undefined),
    devSocket: environment["VOCALHOST_DEV_SOCKET"] || undefined,
    warnings,
  };
}

/** Throws for unknown flags, which would otherwise be ignored silently. */
function requireKnown({ unknown }: Flags): void {
  const [first] = unknown;
  if (!first) return;
  const elsewhere = ELSEWHERE[first.flag];
  if (elsewhere !== undefined) throw new FlagError(`${first.flag} is not for this runner: ${elsewhere}`);
  const guess = first.didYouMean ? ` Did you mean --${first.didYouMean}?` : "";
  throw new FlagError(
    `${first.flag} means nothing to the runner.${guess} Flags of your bot's own come behind two dashes: -- ${first.flag}`,
  );
}

/** Flags of other runners, and their equivalents. */
const ELSEWHERE: Record<string, string> = {
  "--direct": "open /room in a browser, which makes a room and starts the bot in it",
  "-d": "open /room in a browser, which makes a room and starts the bot in it",
  "--esp32": "small devices connect with the WebSocket transport, -t websocket",
  "--whatsapp": "calls come in over carriers and rooms",
  "--runner-body": "send it as body of POST /start",
};

export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || host === "[::1]" || /^127(?:\.\d{1,3}){3}$/.test(host);
}

function variableOf(name: FlagName): string {
  return FLAGS.find((flag) => flag.name === name)?.variable ?? "";
}

function textSetting(flags: Flags, environment: Environment, name: FlagName): string | undefined {
  const flag = flags.known[name];
  if (typeof flag === "string") return flag;
  return environment[variableOf(name)] || undefined; // an empty value counts as unset
}

function listSetting(flags: Flags, environment: Environment, name: FlagName): string[] {
  const flag = flags.known[name];
  if (Array.isArray(flag)) return flag.flatMap((value) => value.split(",")).filter(Boolean);
  return (environment[variableOf(name)] ?? "")
    .split(",")
    .map((value) => value.trim())
    .filter(Boolean);
}

function parsePort(text: string): number {
  const port = Number(text);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535 && text.trim() !== "") return port;
  throw new FlagError(`--port must be a whole number from 0 to 65535, got "${text}"`);
}

const LOWEST_MEDIA_PORT = 1_025; // the media library accepts none below

function parseMediaPort(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const port = Number(text);
  if (Number.isInteger(port) && port >= LOWEST_MEDIA_PORT && port <= 65_535) return port;
  throw new FlagError(`--media-port must be a port from ${LOWEST_MEDIA_PORT} to 65535, got "${text}"`);
}

function parseAddress(text: string): string {
  if (isIP(text) > 0) return text;
  throw new FlagError(`--media-address must be an address such as 203.0.113.7, not a name: "${text}"`);
}

function parseTransport(text: string | undefined): TransportName | undefined {
  if (text === undefined) return undefined;
  const name = transportNames.find((candidate) => candidate === text);
  if (name) return name;
  if ((roomAliases as readonly string[]).includes(text)) return "room";
  throw new FlagError(`--transport must be one of ${transportNames.join(", ")}, got "${text}"`);
}

/** `-t daily` and `-t livekit` also select the rooms' provider. */
function parseRooms(transport: string | undefined, environment: Environment): RoomsConfig {
  const alias = roomAliases.find((each) => each === transport);
  const provider = alias === "livekit" && !environment["LIVEKIT_URL"] ? "embedded" : alias; // as in /start
  return asFlagError(() =>
    readRoomsConfig(provider ? { ...environment, VOCALHOST_ROOM_PROVIDER: provider } : environment),
  );
}

function asFlagError<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new FlagError(messageOf(error), { cause: error });
  }
}

function parseDialIn(asked: FlagValue | undefined, environment: Environment, warnings: string[]): boolean {
  if (asked === undefined || asked === "" || asked === "0" || asked === "false") return false;
  if (environment["DAILY_API_KEY"] && !environment["DAILY_DIALIN_HMAC"])
    warnings.push(
      "Dial-in webhooks of Daily are not checked: set DAILY_DIALIN_HMAC to the secret of your dial-in configuration.",
    );
  return true;
}

function parseDialoutKey(key: string | undefined): string | undefined {
  if (key === undefined || /^[\x21-\x7e]{16,}$/.test(key)) return key; // the key guards money
  throw new FlagError(
    "VOCALHOST_DIALOUT_KEY must have 16 characters at least, and no spaces. It lets its bearer place calls at your cost.",
  );
}

function parseProxy(text: string | undefined, warnings: string[]): string | undefined {
  if (text === undefined) return undefined;
  const bare = text.replace(/^https?:\/\//i, "").replace(/\/+$/, "");
  if (bare !== text) warnings.push(`--proxy takes only a host name; using "${bare}".`);
  if (/^[a-z0-9.-]+(?::\d{1,5})?$/i.test(bare)) return bare.toLowerCase();
  throw new FlagError(`--proxy must be a host name such as bots.example.com, got "${text}"`);
}

const UPLOADS_MAX_FILES = 10;

function parseUploads(folder: string | undefined, count: string | undefined): RunnerConfig["uploads"] {
  const maxFiles = Number(count ?? UPLOADS_MAX_FILES);
  if (!Number.isInteger(maxFiles) || maxFiles < 1 || maxFiles > 100_000)
    throw new FlagError(`--uploads-folder-max-files must be a whole number from 1 to 100000, got "${count}"`);
  if (folder !== undefined) return { folder, maxFiles };
  if (count === undefined) return undefined;
  throw new FlagError("--uploads-folder-max-files requires --uploads-folder");
}

function parseIdleTimeout(text: string | undefined): number | null {
  const seconds = Number(text ?? 300);
  if (Number.isFinite(seconds) && seconds >= 0 && seconds <= 86_400) return seconds === 0 ? null : seconds;
  throw new FlagError(`--idle-timeout must be seconds from 0 (never) to 86400, got "${text}"`);
}

function parseFolder(name: FlagName, text: string | undefined, workingFolder: string): string | undefined {
  if (text === undefined) return undefined;
  const folder = resolve(workingFolder, text);
  if (existsSync(folder) && statSync(folder).isDirectory()) return realpathSync(folder);
  throw new FlagError(`--${name}: ${folder} is not a folder`);
}

/** A runner that others can reach requires tokens by default. */
function parseSocketAuth(
  text: string | undefined,
  { host, proxy, onlyTransport }: Pick<RunnerConfig, "host" | "proxy" | "onlyTransport">,
  warnings: string[],
): "none" | "token" {
  if (text !== undefined && text !== "none" && text !== "token")
    throw new FlagError(`--ws-auth must be none or token, got "${text}"`);
  if (isLoopback(host) && proxy === undefined) return text ?? "none";
  const hasFixedAddress =
    onlyTransport !== undefined && isCarrier(onlyTransport) && carriers[onlyTransport].hasFixedAddress;
  const auth = text ?? (hasFixedAddress ? "none" : "token");
  if (auth === "none")
    warnings.push(
      isLoopback(host)
        ? `Behind ${proxy} without WebSocket tokens: everyone who can reach that name can talk to your bot.`
        : `Listening on ${host} without WebSocket tokens: everyone who can reach this machine can talk to your bot.`,
    );
  else if (!isLoopback(host))
    warnings.push(
      `Listening on ${host}: other machines can reach this runner, so WebSockets need a token from /start.`,
    );
  return auth;
}

function parseVoiceFilter(text: string | undefined, named: string | undefined): RunnerConfig["voiceFilter"] {
  if (text === undefined) return undefined;
  const model = VoiceFilter.safeParse(text).data;
  if (!model)
    throw new FlagError(`--voice-filter must be one of ${VoiceFilter.options.join(", ")}, got "${text}"`);
  const engine = findEngine(named);
  if (engine === undefined)
    throw new FlagError(
      named === undefined
        ? "--voice-filter needs the engine, which comes with the hosted service. Use vocalhost dev, or install it without naming it in your package.json: npm install --no-save @vocalhost/viva"
        : `VOCALHOST_VIVA_ENGINE: there is no file ${named}`,
    );
  return { model, engine };
}

function parseOrigin(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && url.origin !== "null" && (url.pathname === "/" || url.pathname === "")) return url.origin;
  throw new FlagError(`--allowed-origins expects origins such as https://app.example.com, got "${text}"`);
}

function parseLogLevel(flag: FlagValue | undefined, variable: string | undefined): LogLevel {
  const count = Number(flag ?? variable ?? 0);
  if (count >= 2) return "trace";
  return count === 1 ? "debug" : "info";
}

function checkedKeys(environment: Environment): SignatureKeys {
  const keys = readSignatureKeys(environment);
  for (const name of carrierNames) {
    const key = keys[name];
    if (key) asFlagError(() => carriers[name].signature?.checkKey?.(key));
  }
  return keys;
}

function parseComplexity(text: string | undefined): number {
  const complexity = Number(text ?? 5);
  if (Number.isInteger(complexity) && complexity >= 0 && complexity <= 10) return complexity;
  throw new FlagError(`VOCALHOST_OPUS_COMPLEXITY must be a whole number from 0 to 10, got "${text}"`);
}
