import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { Problem } from "../problem.ts";

/** The service's answer to a program that a person signs in through a browser. */
const DeviceCode = z.object({
  device_code: z.string(),
  user_code: z.string(),
  verification_uri: z.string(),
  verification_uri_complete: z.string(),
  expires_in: z.number(),
  interval: z.number().default(5),
});
export type DeviceCode = z.infer<typeof DeviceCode>;

const Token = z.object({ access_token: z.string() });
const Refusal = z.object({ error: z.string(), error_description: z.string().optional() });

const CLIENT_ID = "vocalhost-cli";
const GRANT = "urn:ietf:params:oauth:grant-type:device_code";
const SLOWER_S = 5; // by the standard

export interface DeviceFlowOptions {
  /** Without `/v1`. */
  serviceUrl: string;
  fetch: typeof fetch;
  signal: AbortSignal;
}

export async function requestDeviceCode(options: DeviceFlowOptions): Promise<DeviceCode> {
  const { ok, status, body } = await post(options, "/auth/device/code", {
    client_id: CLIENT_ID,
    scope: "openid profile email",
  });
  const code = DeviceCode.safeParse(body);
  if (ok && code.success) return code.data;
  throw new Problem(
    "sign_in_unavailable",
    `${options.serviceUrl} does not support signing in from the command line`,
    {
      why: `It answered ${status}.`,
      fixes: [
        "Is this the address of a Vocalhost service? Give it with --url.",
        "Use a key: vocalhost auth login --api-key",
      ],
    },
  );
}

/** Resolves with the token once the person has agreed. Throws a `Problem` if that does not happen in time. */
export async function waitForToken(options: DeviceFlowOptions, code: DeviceCode): Promise<string> {
  let intervalS = code.interval;
  const endMs = performance.now() + code.expires_in * 1000;
  const exchange = { grant_type: GRANT, device_code: code.device_code, client_id: CLIENT_ID };
  while (performance.now() < endMs) {
    await sleep(intervalS * 1000, undefined, { signal: options.signal });
    const { ok, body } = await post(options, "/auth/device/token", exchange);
    const token = Token.safeParse(body);
    if (ok && token.success) return token.data.access_token;
    const error = Refusal.safeParse(body).data?.error;
    if (error === "slow_down") intervalS += SLOWER_S;
    else if (error !== "authorization_pending") throw refused(error);
  }
  throw refused("expired_token");
}

function refused(error: string | undefined): Problem {
  if (error === "access_denied")
    return new Problem("sign_in_denied", "Signing in was denied in the browser", {
      fixes: ["If that was a mistake: vocalhost auth login"],
    });
  if (error === "expired_token")
    return new Problem("sign_in_timed_out", "The sign-in was not confirmed in the browser in time", {
      fixes: ["Try again: vocalhost auth login"],
    });
  return new Problem("sign_in_failed", "Signing in failed", {
    why: `The service answered ${error ?? "an unexpected message"}.`,
    fixes: ["Try again: vocalhost auth login"],
  });
}

async function post(
  { serviceUrl, fetch: send }: DeviceFlowOptions,
  path: string,
  fields: Record<string, string>,
): Promise<{ ok: boolean; status: number; body: unknown }> {
  const response = await send(`${serviceUrl}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(fields),
  });
  const body: unknown = await response.json().catch(() => undefined);
  return { ok: response.ok, status: response.status, body };
}
