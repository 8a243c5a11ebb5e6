import { transportNames } from "@vocalhost/protocol";
import { closestWord } from "@vocalhost/protocol";

/** The parsed command line, before defaults and environment are applied. */
export interface Flags {
  known: Partial<Record<FlagName, FlagValue>>;
  /** The runner's and the bot's flags, by camel-case name; the bot gets them as `cliArgs`. */
  all: Record<string, FlagValue>;
  /** Words that belong to no flag; the first may name the bot's file. */
  words: string[];
  /** Unknown flags, each with a similar known one. */
  unknown: { flag: string; didYouMean: string | undefined }[];
}

export type FlagValue = string | boolean | number | string[];
export type FlagName = (typeof FLAGS)[number]["name"];

export class FlagError extends Error {
  override readonly name = "FlagError";
}

interface FlagSpec {
  name: string;
  /** Alternative name. */
  alias?: string;
  short?: string;
  takes: "text" | "list" | "nothing";
  value: string;
  variable: string;
  help: string;
}

export const FLAGS = [
  {
    name: "host",
    takes: "text",
    value: "ADDRESS",
    variable: "VOCALHOST_HOST",
    help: "address to listen on (localhost)",
  },
  {
    name: "port",
    takes: "text",
    value: "PORT",
    variable: "VOCALHOST_PORT",
    help: "port to listen on (7860)",
  },
  {
    name: "transport",
    short: "t",
    takes: "text",
    value: "NAME",
    variable: "VOCALHOST_TRANSPORT",
    help: `allow this transport only: ${transportNames.join(", ")}`,
  },
  {
    name: "dialin",
    takes: "nothing",
    value: "",
    variable: "VOCALHOST_DIALIN",
    help: "take phone calls into rooms: webhooks for Daily and LiveKit",
  },
  {
    name: "no-dialin",
    takes: "nothing",
    value: "",
    variable: "",
    help: "take none, whatever the environment says",
  },
  {
    name: "proxy",
    short: "x",
    takes: "text",
    value: "HOST",
    variable: "VOCALHOST_PROXY",
    help: "public host name under which clients reach this runner",
  },
  {
    name: "folder",
    alias: "downloads-folder",
    short: "f",
    takes: "text",
    value: "FOLDER",
    variable: "VOCALHOST_FOLDER",
    help: "serve the files of a folder under /files/",
  },
  {
    name: "uploads-folder",
    short: "u",
    takes: "text",
    value: "FOLDER",
    variable: "VOCALHOST_UPLOADS_FOLDER",
    help: "keep files that clients send to POST /files here",
  },
  {
    name: "uploads-folder-max-files",
    takes: "text",
    value: "COUNT",
    variable: "VOCALHOST_UPLOADS_FOLDER_MAX_FILES",
    help: "how many of them are kept; the oldest go (10)",
  },
  {
    name: "idle-timeout",
    takes: "text",
    value: "SECONDS",
    variable: "VOCALHOST_IDLE_TIMEOUT",
    help: "end sessions after so many seconds of silence, 0 for never (300)",
  },
  {
    name: "ws-auth",
    takes: "text",
    value: "none|token",
    variable: "VOCALHOST_WEBSOCKET_AUTH",
    help: "whether WebSockets need a token from /start (none on localhost)",
  },
  {
    name: "ice-servers",
    takes: "list",
    value: "URL…",
    variable: "VOCALHOST_ICE_SERVERS",
    help: "STUN and TURN servers, as URLs or JSON objects",
  },
  {
    name: "media-port",
    takes: "text",
    value: "PORT",
    variable: "VOCALHOST_MEDIA_PORT",
    help: "one UDP port for the media of all WebRTC calls (any free one for each)",
  },
  {
    name: "media-address",
    takes: "list",
    value: "ADDRESS…",
    variable: "VOCALHOST_MEDIA_ADDRESS",
    help: "what WebRTC clients are told instead of this machine's own addresses",
  },
  {
    name: "allowed-origins",
    takes: "list",
    value: "ORIGIN…",
    variable: "VOCALHOST_ALLOWED_ORIGINS",
    help: "other web origins that may use this runner",
  },
  {
    name: "voice-filter",
    takes: "text",
    value: "tel|pro",
    variable: "VOCALHOST_VOICE_FILTER",
    help: "isolate the caller's voice, as the hosted service does (off)",
  },
  {
    name: "verbose",
    short: "v",
    takes: "nothing",
    value: "",
    variable: "VOCALHOST_VERBOSE",
    help: "log more; twice for everything",
  },
  { name: "help", short: "h", takes: "nothing", value: "", variable: "", help: "show this help and exit" },
] as const satisfies FlagSpec[];

/** Parses the command line. The bot's own flags are those it declares, and everything after `--`. */
export function parseFlags(args: string[], own: readonly string[] = []): Flags {
  const flags: Flags = { known: {}, all: {}, words: [], unknown: [] };
  const rest = args.flatMap(splitEquals);
  let isOwn = false;
  for (let arg = rest.shift(); arg !== undefined; arg = rest.shift()) {
    if (arg.text === "--" && !arg.isValue && !isOwn) isOwn = true;
    else if (isOwn && !arg.isValue && isFlag(arg.text)) readOwn(flags, arg.text, rest);
    else if (!arg.isValue && /^-v{2,}$/.test(arg.text)) {
      setKnown(flags, "verbose", Number(flags.known.verbose ?? 0) + arg.text.length - 1);
    } else if (!arg.isValue && isFlag(arg.text)) readFlag(flags, arg.text, { rest, own });
    else flags.words.push(arg.text);
  }
  return flags;
}

export function helpText(): string {
  const rows = FLAGS.map((flag) => {
    const short = "short" in flag ? `-${flag.short}, ` : "    ";
    return [`  ${short}--${flag.name} ${flag.value}`.trimEnd(), flag.help, flag.variable] as const;
  });
  const width = Math.max(...rows.map(([usage]) => usage.length));
  const helpWidth = Math.max(...rows.map(([, help]) => help.length));
  return [
    "Runs your bot on this machine and serves a page to talk to it.",
    "",
    "Usage: node bot.ts [flags]",
    "",
    ...rows.map(([usage, help, variable]) =>
      `${usage.padEnd(width)}  ${help.padEnd(helpWidth)}  ${variable}`.trimEnd(),
    ),
    "",
    "The last column is the equivalent environment variable. Flags of your bot's own come behind --, or are named in",
    'main({ flags: ["voice"] }); they reach it as args.cliArgs.',
    "",
    "Examples:",
    "  node bot.ts                                   then open http://localhost:7860",
    "  node bot.ts --port 7861 -t websocket",
    "  node bot.ts --host 0.0.0.0 --proxy bots.example.com",
    "  node bot.ts --port 7861 -- --voice ann",
    "",
  ].join("\n");
}

interface Word {
  text: string;
  /** It followed an equals sign, so it is a value even if it begins with a dash. */
  isValue: boolean;
}

function splitEquals(arg: string): Word[] {
  const match = /^(--[^=]+|-[a-z])=(.*)$/is.exec(arg);
  if (!match) return [{ text: arg, isValue: false }];
  return [
    { text: match[1] ?? "", isValue: false },
    { text: match[2] ?? "", isValue: true },
  ];
}

function isFlag(text: string): boolean {
  return /^(?:--?[a-z]|--$)/i.test(text);
}

function readFlag(flags: Flags, text: string, { rest, own }: { rest: Word[]; own: readonly string[] }): void {
  const name = text.replace(/^--?/, "");
  const spec = FLAGS.find((flag) =>
    text.startsWith("--")
      ? flag.name === name || ("alias" in flag && flag.alias === name)
      : "short" in flag && flag.short === name,
  );
  if (!spec && own.includes(name)) return readOwn(flags, text, rest);
  if (!spec) return readUnknown(flags, text, rest);
  if (spec.takes === "nothing") {
    if (rest[0]?.isValue) throw new FlagError(`--${spec.name} takes no value, got "${rest[0].text}"`);
    return setKnown(flags, spec.name, Number(flags.known[spec.name] ?? 0) + 1);
  }
  const values = takeValues(rest, spec.takes === "list");
  const [first] = values;
  if (spec.takes === "list") {
    const before = flags.known[spec.name];
    return setKnown(flags, spec.name, [...(Array.isArray(before) ? before : []), ...values]);
  }
  if (first === undefined) throw new FlagError(`--${spec.name} needs a value: --${spec.name} ${spec.value}`);
  return setKnown(flags, spec.name, first);
}

function readUnknown(flags: Flags, text: string, rest: Word[]): void {
  const names = FLAGS.map((flag) => flag.name);
  flags.unknown.push({ flag: text, didYouMean: closestWord(text.replace(/^--?/, ""), names) });
  takeValues(rest, false);
}

function readOwn(flags: Flags, text: string, rest: Word[]): void {
  const [value] = takeValues(rest, false);
  flags.all[camelCase(text.replace(/^--?/, ""))] = value ?? true;
}

function takeValues(rest: Word[], many: boolean): string[] {
  const values: string[] = [];
  while (rest[0] && (rest[0].isValue || !isFlag(rest[0].text)) && (many || values.length === 0)) {
    const [word] = rest.splice(0, 1);
    if (word) values.push(word.text);
  }
  return values;
}

function setKnown(flags: Flags, name: FlagName, value: FlagValue): void {
  flags.known[name] = value;
  flags.all[camelCase(name)] = value;
}

function camelCase(name: string): string {
  return name.replace(/-+([a-z0-9])/gi, (_, letter: string) => letter.toUpperCase());
}
