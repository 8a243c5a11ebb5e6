import { decodeJwt, errors as joseErrors, jwtVerify, SignJWT } from "jose";
import { z } from "zod";

/** The permissions of a token, with LiveKit's names. */
export const VideoGrant = z.object({
  roomJoin: z.boolean().optional(),
  room: z.string().optional(),
  roomCreate: z.boolean().optional(),
  roomList: z.boolean().optional(),
  roomAdmin: z.boolean().optional(),
  canPublish: z.boolean().optional(),
  canSubscribe: z.boolean().optional(),
  canPublishData: z.boolean().optional(),
  canPublishSources: z.array(z.string()).optional(),
  canUpdateOwnMetadata: z.boolean().optional(),
  hidden: z.boolean().optional(),
  recorder: z.boolean().optional(),
  agent: z.boolean().optional(),
});
export type VideoGrant = z.infer<typeof VideoGrant>;

const Claims = z.object({
  sub: z.string().default(""),
  name: z.string().default(""),
  kind: z.string().optional(),
  metadata: z.string().default(""),
  attributes: z.record(z.string(), z.string()).default({}),
  video: VideoGrant.optional(),
});

/** Identity and permissions of a participant. */
export interface Grants {
  identity: string;
  name: string;
  kind: string | undefined;
  metadata: string;
  attributes: Record<string, string>;
  video: VideoGrant | undefined;
}

export interface TokenKey {
  apiKey: string;
  apiSecret: string;
  audience?: string | undefined;
}

export class TokenRefused extends Error {}

const CLOCK_TOLERANCE_S = 60; // as much as LiveKit's own check
const TOKEN_MAX_CHARACTERS = 16 * 1024;

/** Throws {@link TokenRefused} with a sentence for the bearer. */
export async function verifyToken(token: string, key: TokenKey): Promise<Grants> {
  if (token.length > TOKEN_MAX_CHARACTERS) throw new TokenRefused("invalid authorization token");
  try {
    const { payload } = await jwtVerify(token, new TextEncoder().encode(key.apiSecret), {
      algorithms: ["HS256"],
      issuer: key.apiKey,
      requiredClaims: ["exp"],
      clockTolerance: CLOCK_TOLERANCE_S,
      ...(key.audience ? { audience: key.audience } : {}),
    });
    const { sub: identity, ...claims } = Claims.parse(payload);
    return { identity, ...claims, kind: claims.kind, video: claims.video };
  } catch (error) {
    throw new TokenRefused(reasonOf(error), { cause: error });
  }
}

/** Unix seconds; 0 when it does not say. Only for a token that was verified. */
export function validFromS(token: string): number {
  const { nbf, iat } = decodeJwt(token);
  return nbf ?? iat ?? 0;
}

export interface SignedToken extends Partial<Grants> {
  /** @default 6 h */
  validForS?: number;
}

/** A token as LiveKit's own server SDK signs it. */
export function signToken(grants: SignedToken, key: TokenKey): Promise<string> {
  const { identity, validForS = 6 * 3600, ...claims } = grants;
  const jwt = new SignJWT(JSON.parse(JSON.stringify(claims)) as Record<string, unknown>)
    .setProtectedHeader({ alg: "HS256", typ: "JWT" })
    .setIssuer(key.apiKey)
    .setNotBefore("0s")
    .setExpirationTime(`${validForS}s`);
  if (identity) jwt.setSubject(identity);
  if (key.audience) jwt.setAudience(key.audience);
  return jwt.sign(new TextEncoder().encode(key.apiSecret));
}

function reasonOf(error: unknown): string {
  if (error instanceof joseErrors.JWTExpired) return "invalid authorization token: token is expired";
  if (error instanceof joseErrors.JWTClaimValidationFailed && error.claim === "iss") return "invalid API key";
  if (error instanceof joseErrors.JWTClaimValidationFailed)
    return `invalid authorization token: ${error.claim} does not fit`;
  return "invalid authorization token";
}
