import { list, parsedBy, readSettings, type Settings } from "@vocalhost/protocol";
import { createHmac, randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { z } from "zod";

const URL_PATTERN = /^turns?:(?:\[[\da-f:.]+\]|[\w.-]+)(?::\d{1,5})?(?:\?transport=(?:udp|tcp))?$/i;

export const turnSettings = {
  urls: {
    name: "VOCALHOST_TURN_URLS",
    schema: z
      .string()
      .regex(/^\s*turns?:/i, "must be addresses such as turn:turn.example.com:3478, with commas between them")
      .pipe(list)
      .refine(
        (urls) => urls.every((url) => URL_PATTERN.test(url)),
        "must be addresses such as turn:turn.example.com:3478, with commas between them",
      )
      .default([]),
    help: "TURN servers such as `turn:turn.example.com:3478`, separated by commas; each session gets credentials for them",
  },
  secret: {
    name: "VOCALHOST_TURN_SECRET",
    isSecret: true,
    help: "what the TURN server has as `static-auth-secret`",
  },
  secretInFile: {
    name: "VOCALHOST_TURN_SECRET_FILE",
    schema: parsedBy(readSecretFile).optional(),
    help: "file with that secret, instead of the secret",
  },
} as const satisfies Settings;

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
  /** The server admits no client after this, and lets none stay much longer. */
  validForMs: number;
  /** The user that the server's log names. @default a random name */
  user?: string;
}

/** Throws an error whose message names the setting that is wrong, and never the secret. */
export function readTurnConfig(environment: Record<string, string | undefined>): TurnConfig | undefined {
  const { urls, ...found } = readSettings(turnSettings, environment);
  const secret = found.secretInFile ?? found.secret;
  if (urls.length === 0 && secret === undefined) return undefined;
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

function readSecretFile(file: string): string {
  let secret: string;
  try {
    secret = readFileSync(file, "utf8").trim();
  } catch (cause) {
    throw new Error("cannot be read", { cause });
  }
  if (secret === "") throw new Error("is empty");
  return secret;
}
