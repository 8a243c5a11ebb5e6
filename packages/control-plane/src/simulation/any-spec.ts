import { defaultValues } from "@vocalhost/protocol";
import type { DeploymentSpec } from "../agents/deployments/deployment-spec.ts";
import type { Random } from "./random.ts";

/** Returns the spec of an arbitrary deployment. */
export function anySpec(random: Random): DeploymentSpec {
  return {
    image: "vocalhost/builds:test",
    buildId: null,
    nodeType: "arm",
    secretVersion: null,
    pinned: null,
    ...defaultValues("deployment"),
    audioFilter: random.pick(["tel", "pro", null]),
    maxSessionDurationS: 30,
  };
}
