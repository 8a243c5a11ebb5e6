import { createHmac } from "node:crypto";
import { AppError, isAppError } from "@vocalhost/protocol";
import type { SignedInUser } from "./admission.ts";
import { ADDRESS_HEADER, type AuthLibrary } from "./auth-library.ts";
import { Redemption } from "./redeem-link.ts";
import { requireSameOrigin } from "./same-origin.ts";
import type { SignInLimits } from "./sign-in-limits.ts";

/** The paths clients may reach. The library has more, such as the registration of providers. */
const openPaths = new Set([
  "GET /auth/get-session",
  "POST /auth/sign-in/email",
  "POST /auth/sign-in/sso",
  "GET /auth/sso/callback/oidc",
  "POST /auth/sign-out",
  "POST /auth/change-password",
  "GET /auth/list-sessions",
  "POST /auth/revoke-session",
  "POST /auth/revoke-other-sessions",
  "GET /auth/error",
  "POST /auth/device/code",
  "POST /auth/device/token",
  "GET /auth/device",
  "POST /auth/device/approve",
  "POST /auth/device/deny",
]);
const BODY_BYTES_MAX = 64 * 1024;
const DEVICE_CODES_MAX = 10_000; // requests need no credential, and each adds a row for half an hour

export interface AuthHandlerOptions {
  load(): Promise<AuthLibrary>;
  redeem(redemption: Redemption): Promise<SignedInUser>;
  limits: SignInLimits;
  ownOrigins: readonly string[];
  secret: string;
}

export function createAuthHandler(options: AuthHandlerOptions): (request: Request) => Promise<Response> {
  return async (request) => {
    try {
      const response = await answer(options, request);
      response.headers.set("cache-control", "no-store");
      const waitS = response.headers.get("x-retry-after"); // the library's own name for `retry-after`
      if (waitS !== null) response.headers.set("retry-after", waitS);
      // This header holds the cookie's value, which scripts of a page could read.
      for (const name of ["set-auth-token", "access-control-expose-headers"]) response.headers.delete(name);
      return response;
    } catch (error) {
      if (!isAppError(error)) throw error;
      return Response.json(error.toBody(), { status: error.status });
    }
  };
}

async function answer(options: AuthHandlerOptions, request: Request): Promise<Response> {
  const path = new URL(request.url).pathname;
  checkOrigin(request, options.ownOrigins);
  if (`${request.method} ${path}` === "POST /auth/redeem-link") return redeemAndSignIn(options, request);
  if (!openPaths.has(`${request.method} ${path}`)) throw new AppError("NOT_FOUND");
  const library = await options.load();
  const { handler, countDeviceCodes } = library;
  if (path === "/auth/sign-in/email" || path === "/auth/change-password")
    return tryPassword(options, library, { request, path });
  if (path === "/auth/device/code" && (await countDeviceCodes()) >= DEVICE_CODES_MAX)
    throw new AppError("RATE_LIMITED", { message: "Too many sign-ins are waiting. Try again later" });
  const response = await handler(request);
  return path === "/auth/device/token" && response.ok ? signAccessToken(response, options.secret) : response;
}

/** Applies without a cookie too: another site's page must not sign a person in. Programs send no origin. */
function checkOrigin(request: Request, configured: readonly string[]): void {
  const header = (name: string) => request.headers.get(name) ?? undefined;
  const origin = header("origin");
  // The origin of the request is allowed under any host name; pages of other sites have their own origin.
  const ownOrigins = [...configured, new URL(request.url).origin];
  requireSameOrigin(
    {
      method: request.method,
      origin,
      secFetchSite: header("sec-fetch-site"),
      authorization: header("authorization"),
      cookie: origin === undefined ? header("cookie") : "",
    },
    ownOrigins,
  );
}

/** Passes on the parsed body, so that the limit applies to the account whose password is tried. */
async function tryPassword(
  { limits }: AuthHandlerOptions,
  library: AuthLibrary,
  { request, path }: { request: Request; path: string },
): Promise<Response> {
  const body = await readJson(request);
  const signedIn = path === "/auth/change-password" ? await library.sessionOf(request.headers) : undefined;
  const { email } = (body ?? {}) as { email?: unknown };
  const account = signedIn?.email ?? (typeof email === "string" ? email.slice(0, 254).toLowerCase() : "");
  const address = addressOf(request);
  const { method, headers, url } = request;
  const checked = new Request(url, { method, headers, body: JSON.stringify(body) });
  const knownAddresses = () => library.signedInFrom(account);
  return limits.run({ address, account, knownAddresses }, () => library.handler(checked));
}

function addressOf(request: Request): string {
  return request.headers.get(ADDRESS_HEADER) ?? "";
}

async function redeemAndSignIn(options: AuthHandlerOptions, request: Request): Promise<Response> {
  const redemption = Redemption.safeParse(await readJson(request));
  if (!redemption.success) {
    const problem = redemption.error.issues[0];
    const message = `${problem?.path.join(".") ?? ""}: ${problem?.message ?? "not valid"}`;
    throw new AppError("GENERIC_BAD_REQUEST", { message });
  }
  const { email, password } = redemption.data;
  const address = addressOf(request);
  const hash = async (): Promise<Response> => {
    await options.redeem(redemption.data);
    return (await options.load()).signIn({ email, password }, address);
  };
  return options.limits.run({ address, account: undefined, knownAddresses: async () => [] }, hash);
}

async function readJson(request: Request): Promise<unknown> {
  const text = await request.text();
  if (text.length > BODY_BYTES_MAX) throw new AppError("PAYLOAD_TOO_LARGE");
  try {
    return JSON.parse(text);
  } catch {
    throw new AppError("MALFORMED_JSON");
  }
}

/** The store holds the part before the point; only the signature makes it a credential. */
async function signAccessToken(response: Response, secret: string): Promise<Response> {
  const body = (await response.json()) as { access_token: string };
  const signature = createHmac("sha256", secret).update(body.access_token).digest("base64");
  const headers = new Headers(response.headers);
  headers.delete("content-length");
  return Response.json({ ...body, access_token: `${body.access_token}.${signature}` }, { headers });
}
