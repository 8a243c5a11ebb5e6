import { instanceVariables } from "@vocalhost/protocol";
import type { InstanceMedia } from "./driver.ts";

/** Returns the variables that tell an instance where calls reach it. */
export function mediaVariables(media: InstanceMedia | undefined): Record<string, string> {
  if (!media) return {};
  return {
    ...(media.port === undefined ? {} : { [instanceVariables.mediaPort]: String(media.port) }),
    ...(media.addresses.length === 0 ? {} : { [instanceVariables.mediaAddress]: media.addresses.join(",") }),
  };
}
