import { AppError, type FieldProblem, type RoomProviderName } from "@vocalhost/protocol";
import { randomBytes } from "node:crypto";
import type { z } from "zod";

/** A room provider: our own server, a LiveKit server, Daily. */
export interface RoomProvider extends AsyncDisposable {
  readonly name: RoomProviderName;
  /** The trunk over which a room's owner may call a person into it; undefined where calls are not possible. */
  readonly sipTrunk?: string | undefined;
  createRoom(wanted: WantedRoom): Promise<MadeRoom>;
  /** Lets one participant into one room, and into no other. */
  issueToken(wanted: WantedToken): Promise<string>;
  /** The room in which this token allows hearing and speaking; undefined for a token of another provider. */
  findRoom(token: string, options?: { reachedAs?: string | undefined }): Promise<MadeRoom | undefined>;
  /** Removes all participants. A room that does not exist is no error. */
  deleteRoom(name: string): Promise<void>;
}

export interface WantedRoom {
  /** Its name begins with this. */
  prefix: string;
  /** Its name ends so, and there may be a room of that name already. @default something new */
  mark?: string | undefined;
  /** In the provider's own words; refused when they are not. */
  properties?: unknown;
  /** A phone call is to come in. */
  sip?: { displayName: string };
  /** `ws://host` under which the client knows us; only our own server is there too. */
  reachedAs?: string | undefined;
}

export interface MadeRoom {
  name: string;
  /** The address for clients. */
  url: string;
  /** The address for bots: a nearer one, where that is possible. */
  botUrl: string;
  /** Where a phone call is sent, of a room made for one. */
  sipUri?: string | undefined;
}

export interface WantedToken {
  room: string;
  identity: string;
  /** The bot owns its room … */
  isBot: boolean;
  /** … unless it came into that of another. */
  isGuest?: boolean;
  properties?: unknown;
}

export const TOKEN_VALID_S = 2 * 3600;

const NAME_BYTES = 16; // Daily's rooms are open to all who know the name

export function roomNameOf({ prefix, mark }: Pick<WantedRoom, "prefix" | "mark">): string {
  return `${prefix}-${mark ?? randomBytes(NAME_BYTES).toString("hex")}`;
}

/** Reads what a caller wants a room or token to be, or says which field is wrong. */
export function parseProperties<S extends z.ZodType>(schema: S, properties: unknown): z.infer<S> {
  const result = schema.safeParse(properties ?? {});
  if (result.success) return result.data;
  const problems: FieldProblem[] = result.error.issues.map((issue) => ({
    loc: [
      "body",
      "properties",
      ...issue.path.map((part) => (typeof part === "number" ? part : String(part))),
    ],
    msg: issue.message,
    type: issue.code,
  }));
  const [first] = problems;
  throw new AppError("INVALID_REQUEST", {
    problems,
    message: first ? `${first.loc.slice(1).join(".")}: ${first.msg}` : "The properties are not valid",
  });
}
