import { instanceVariables } from "@vocalhost/protocol";
import type { InstanceSpec } from "./driver.ts";
import { mediaVariables } from "./media-variables.ts";

/** Where an instance listens that has a network of its own. */
export const PORT_INSIDE = 7860;

/** What an instance with a network of its own finds in its environment: the bot's secrets, and what it is to be. */
export function instanceEnvironment(spec: InstanceSpec): Record<string, string> {
  return {
    ...spec.environment,
    [instanceVariables.id]: spec.id,
    [instanceVariables.token]: spec.token,
    [instanceVariables.listen]: `0.0.0.0:${PORT_INSIDE}`,
    [instanceVariables.heartbeatMs]: String(spec.heartbeatMs),
    [instanceVariables.aloneMs]: String(spec.aloneMs),
    ...mediaVariables(spec.media),
  };
}
