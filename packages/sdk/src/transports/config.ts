import { readCarrierAccounts, type CarrierAccounts } from "@vocalhost/carriers";
import type * as liveKitClient from "@livekit/rtc-node";

export type LiveKitClient = typeof liveKitClient;

/** LiveKit's client, loaded when the first bot goes into a room: half a second and 50 MB that others do not pay. */
export async function loadLiveKitClient(): Promise<LiveKitClient> {
  const before = process.env["NODE_ENV"];
  // It decides once, while it is loaded, whether to print what it does on our standard output.
  process.env["NODE_ENV"] = "production";
  try {
    return await import("@livekit/rtc-node");
  } finally {
    if (before === undefined) delete process.env["NODE_ENV"];
    else process.env["NODE_ENV"] = before;
  }
}

/** The accounts to transfer and hang up with; each is optional. */
export function carrierAccounts(): CarrierAccounts {
  return readCarrierAccounts(process.env);
}
