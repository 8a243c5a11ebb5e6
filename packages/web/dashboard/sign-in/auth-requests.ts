import { ApiError } from "@vocalhost/protocol";

const ANSWER_MS = 20_000;

/** Throws what the service said. */
async function ask(path: string, init: { method: "GET" | "POST"; body?: unknown }): Promise<unknown> {
  const response = await fetch(path, {
    method: init.method,
    headers: init.method === "POST" ? { "content-type": "application/json" } : {},
    ...(init.method === "POST" ? { body: JSON.stringify(init.body ?? {}) } : {}),
    signal: AbortSignal.timeout(ANSWER_MS),
  });
  const answer: unknown = await response.json().catch(() => undefined);
  if (response.ok) return answer;
  const told = (answer ?? {}) as Record<string, unknown>;
  const message = [told["message"], told["error_description"], told["error"]].find(
    (each) => typeof each === "string",
  );
  throw new ApiError({
    status: response.status,
    code: [told["code"], told["error"]].find((each) => typeof each === "string") ?? String(response.status),
    message: message ?? `The service answered ${response.status}`,
    detail: undefined,
  });
}

export const signIn = (credentials: { email: string; password: string }) =>
  ask("/auth/sign-in/email", { method: "POST", body: credentials });

/** Where to go on: the provider's own page. */
export async function signInWithProvider(next: string): Promise<string> {
  const answer = await ask("/auth/sign-in/sso", {
    method: "POST",
    body: { providerId: "oidc", callbackURL: next, errorCallbackURL: "/sign-in" },
  });
  const { url } = (answer ?? {}) as { url?: unknown };
  if (typeof url !== "string") throw new Error("The service did not say where to sign in");
  return url;
}

export const signOut = () => ask("/auth/sign-out", { method: "POST" });

export const redeemLink = (redemption: { token: string; email: string; password: string }) =>
  ask("/auth/redeem-link", { method: "POST", body: redemption });

/** Whether the browser kept the cookie: it does not over plain HTTP from another machine. */
export async function isSignedIn(): Promise<boolean> {
  return (await ask("/auth/get-session", { method: "GET" })) !== null;
}

export async function readDevice(userCode: string): Promise<{ status: string }> {
  const answer = await ask(`/auth/device?user_code=${encodeURIComponent(userCode)}`, { method: "GET" });
  return { status: String((answer as { status?: unknown }).status) };
}

export const decideDevice = (decision: "approve" | "deny", userCode: string) =>
  ask(`/auth/device/${decision}`, { method: "POST", body: { userCode } });
