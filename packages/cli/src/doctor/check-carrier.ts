import { lookup } from "node:dns/promises";
import { BlockList, isIPv6 } from "node:net";
import { failed, ok, reasonOf, skipped, warning, type Hop } from "./hop.ts";

const NAME = "carrier webhook";
const ANSWER_MS = 10_000;

/** Whether a carrier could reach the webhook: from outside, over TLS, with an answer. */
export async function checkCarrier(webhook: string | undefined, signal: AbortSignal): Promise<Hop> {
  if (webhook === undefined)
    return skipped(NAME, "no public address is known; give the webhook with --webhook");
  if (!URL.canParse(webhook))
    return failed(NAME, `"${webhook}" is not an address`, "For example: https://bot.example.com/");
  const url = new URL(webhook);
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const address = await lookup(host).catch((error: unknown) => reasonOf(error));
  if (typeof address === "string")
    return failed(
      NAME,
      `Host ${url.hostname} not found: ${address}`,
      "Carriers look it up in public DNS: add it there.",
    );
  if (isPrivate(address.address))
    return failed(
      NAME,
      address.address === host
        ? `${host} is no address that carriers can reach`
        : `${url.hostname} is ${address.address}, which carriers cannot reach`,
      "Give carriers a public address: a tunnel, or a server with VOCALHOST_PUBLIC_URL.",
    );
  if (url.protocol !== "https:")
    return warning(
      NAME,
      `${url.href} has no TLS; carriers open the media stream with wss:// only`,
      "Put TLS in front and use https://.",
    );
  return ask(url, signal);
}

async function ask(url: URL, signal: AbortSignal): Promise<Hop> {
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: "CallSid=CA00000000000000000000000000000000&From=%2B12025550143&To=%2B12025550199",
      redirect: "manual",
      signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]),
    });
    await response.body?.cancel();
    const { status } = response;
    if (response.ok || status === 403)
      return ok(
        NAME,
        `${url.href} answers ${status}${status === 403 ? ", as it should without a signature" : ""}`,
      );
    if (status >= 300 && status < 400)
      return failed(
        NAME,
        `${url.href} redirects, which carriers do not follow`,
        "Give the carrier the final address.",
      );
    return failed(NAME, `${url.href} answers ${status}`, "Is this the webhook's path? Check the log there.");
  } catch (error) {
    signal.throwIfAborted();
    return failed(
      NAME,
      `${url.href} does not respond: ${reasonOf(error)}`,
      "Is the certificate valid for this name, and is the port open to the world?",
    );
  }
}

const privateNetworks = new BlockList();
for (const [network, bits] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.168.0.0", 16],
] as const)
  privateNetworks.addSubnet(network, bits, "ipv4");
for (const [network, bits] of [
  ["::", 127],
  ["fc00::", 7],
  ["fe80::", 10],
] as const)
  privateNetworks.addSubnet(network, bits, "ipv6");

export function isPrivate(address: string): boolean {
  return privateNetworks.check(address, isIPv6(address) ? "ipv6" : "ipv4");
}
