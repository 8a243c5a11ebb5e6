import { instanceVariables } from "@vocalhost/protocol";
import type { InstanceSpec } from "./driver.ts";
import { mediaVariables } from "./media-variables.ts";

/** The port of instances with a network of their own. */
export const PORT_INSIDE = 7860;

/** Returns the environment of an instance with a network of its own: the bot's secrets and the instance's settings. */
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
