import { list, oneOf, readSettings, wholeNumber, type Setting, type Settings } from "@vocalhost/protocol";
import { join, resolve } from "node:path";
import { z } from "zod";
import {
  containerSettings,
  imageBuildSettings,
  readContainer,
  type ContainerConfig,
} from "./container/container-config.ts";
import { kubernetesSettings, readKubernetes, type KubernetesConfig } from "./kubernetes/kubernetes-config.ts";

export const kindSettings = {
  kind: {
    name: "VOCALHOST_DRIVER",
    schema: oneOf(["process", "container", "kubernetes"]).default("process"),
    help: "how instances are made: `process`, child processes of this machine, for code you trust; `container`, see [isolation](isolation.md); `kubernetes`, see [kubernetes](kubernetes.md). Regions [can have their own](#regions)",
  },
} as const satisfies Settings;

/** The settings of drivers that are the same in all regions. */
export const driverSettings = {
  registries: {
    name: "VOCALHOST_REGISTRIES",
    schema: list.default([]),
    help: "internal image registries that are allowed, separated by commas",
  },
  keptAwake: {
    name: "VOCALHOST_PAUSE_BEYOND",
    schema: wholeNumber({ min: 0, max: 1_000_000 }).optional(),
    help: "number of each agent's waiting containers that keep running; the others are paused until a session needs them. Without it none is paused",
  },
  compileCache: {
    name: "VOCALHOST_COMPILE_CACHE",
    schema: z
      .string()
      .transform((path) => resolve(path))
      .optional(),
    preset: "one per build",
    help: "folder of compiled code that all bots share, so that the first start of a build is as quick as the next. Not used where bots have users of their own: one bot could leave code there for others. Nothing is removed from it",
  },
} as const satisfies Settings;

/** How instances are made, and the settings of that way. */
export type DriverConfig =
  | { kind: "process"; folder: string; compileCache: string | undefined }
  | ContainerConfig
  | KubernetesConfig;

/** Throws an error whose message names the setting that is wrong. */
export function readDriver(
  environment: Record<string, string | undefined>,
  { dataFolder }: { dataFolder: string },
): DriverConfig {
  const { kind, registries, compileCache } = readSettings(
    { ...kindSettings, ...driverSettings },
    environment,
  );
  switch (kind) {
    case "process":
      return { kind, folder: join(dataFolder, "instances"), compileCache };
    case "container":
      return readContainer(environment, { dataFolder, registries });
    case "kubernetes":
      return readKubernetes(environment, { dataFolder, registries });
    default:
      return kind satisfies never;
  }
}

/** The variables of which each region may have a value of its own. */
export const regionalVariables: readonly string[] = [
  kindSettings,
  containerSettings,
  imageBuildSettings,
  kubernetesSettings,
].flatMap((rows) => Object.values<Setting>(rows).map(({ name }) => name));
