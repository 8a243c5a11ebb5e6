import { createHmac, randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";

/** TURN servers that share a secret with us, as coturn does with `use-auth-secret`. */
export interface TurnConfig {
  urls: string[];
  secret: string;
}

/** A server as clients are told of it, with credentials for a while. */
export interface TurnServer {
  urls: string[];
  username: string;
  credential: string;
}

export interface MintOptions {
  nowMs: number;
  /** The server lets nobody in after this, nor stay much longer. */
  validForMs: number;
  /** Whom the server's log names. @default nobody in particular */
  user?: string;
}

type Environment = Record<string, string | undefined>;

const URL_PATTERN = /^turns?:(?:\[[\da-f:.]+\]|[\w.-]+)(?::\d{1,5})?(?:\?transport=(?:udp|tcp))?$/i;

/** Throws an error whose message names the setting that is wrong, and never the secret. */
export function readTurnConfig(environment: Environment): TurnConfig | undefined {
  const urls = (environment["VOCALHOST_TURN_URLS"] ?? "").split(",").flatMap((url) => url.trim() || []);
  const secret = readSecret(environment);
  if (urls.length === 0 && secret === undefined) return undefined;
  for (const url of urls)
    if (!URL_PATTERN.test(url))
      throw new Error(
        `VOCALHOST_TURN_URLS must be addresses such as turn:turn.example.com:3478, with commas between them, got "${url}"`,
      );
  if (secret === undefined)
    throw new Error(
      "VOCALHOST_TURN_URLS needs the secret that the TURN server has as static-auth-secret: set VOCALHOST_TURN_SECRET or VOCALHOST_TURN_SECRET_FILE",
    );
  if (urls.length === 0)
    throw new Error("VOCALHOST_TURN_SECRET needs VOCALHOST_TURN_URLS, such as turn:turn.example.com:3478");
  return { urls, secret };
}

/** Credentials that the server can check without having heard of them: until when, for whom, and a mark of both. */
export function mintTurnServer({ urls, secret }: TurnConfig, options: MintOptions): TurnServer {
  const expiresS = Math.ceil((options.nowMs + options.validForMs) / 1000);
  const username = `${expiresS}:${options.user ?? randomUUID()}`;
  return { urls, username, credential: createHmac("sha1", secret).update(username).digest("base64") };
}

function readSecret(environment: Environment): string | undefined {
  const file = environment["VOCALHOST_TURN_SECRET_FILE"];
  if (!file) return environment["VOCALHOST_TURN_SECRET"] || undefined;
  try {
    const secret = readFileSync(file, "utf8").trim();
    if (secret) return secret;
  } catch (cause) {
    throw new Error(`VOCALHOST_TURN_SECRET_FILE cannot be read: ${file}`, { cause });
  }
  throw new Error(`VOCALHOST_TURN_SECRET_FILE is empty: ${file}`);
}
