import { readCarrierAccounts, type CarrierAccounts } from "@vocalhost/carriers";
import type * as liveKitClient from "@livekit/rtc-node";

export type LiveKitClient = typeof liveKitClient;

/** Loads LiveKit's client when the first bot joins a room: it costs half a second and 50 MB. */
export async function loadLiveKitClient(): Promise<LiveKitClient> {
  const before = process.env["NODE_ENV"];
  // The library decides once, while it loads, whether to print to standard output.
  process.env["NODE_ENV"] = "production";
  try {
    return await import("@livekit/rtc-node");
  } finally {
    if (before === undefined) delete process.env["NODE_ENV"];
    else process.env["NODE_ENV"] = before;
  }
}

/** Returns the carriers' accounts for transferring and hanging up; each is optional. */
export function carrierAccounts(): CarrierAccounts {
  return readCarrierAccounts(process.env);
}
