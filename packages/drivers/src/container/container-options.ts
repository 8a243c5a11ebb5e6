import { baseUser } from "@vocalhost/images";
import { instanceVariables } from "@vocalhost/protocol";
import type { InstanceSpec } from "../driver.ts";
import { heapLimit } from "../heap-limit.ts";
import { instanceEnvironment } from "../instance-environment.ts";
import type { ContainerRequest } from "./engine-answers.ts";
import { cpuLimit } from "./engine.ts";

export const labels = {
  /** The service that owns the instance: several services may share an engine. */
  service: "io.github.vocalhost.service",
  instance: "io.github.vocalhost.instance",
  cpuMillicores: "io.github.vocalhost.cpu-millicores",
} as const;

/** The folder in which an instance finds its files. */
const FOLDER_INSIDE = "/run/vocalhost";
const PROCESSES_MAX = 256;
const TEMPORARY_MIB = 64;
const FILE_MAX_BYTES = 64 * 1024 * 1024; // also of the files, which lie on our disk
const OPEN_FILES_MAX = 1_024;
const ENGINE_LOG = "1m"; // only what is printed before the files are used

export interface ContainerOptions {
  spec: InstanceSpec;
  image: string;
  name: string;
  service: string;
  network: string;
  sharedFiles: string;
  cpuMillicores: number;
}

/** The strict profile. There is no other. */
export function containerOptions(options: ContainerOptions): ContainerRequest {
  const { spec, image, name, service, network, sharedFiles } = options;
  const memory = spec.memoryMib * 1024 * 1024;
  return {
    name,
    Image: image,
    // Never the image's own: root in there would own our files, and could make files beside them.
    User: `${baseUser.uid}:${baseUser.gid}`,
    Labels: {
      [labels.service]: service,
      [labels.instance]: spec.id,
      [labels.cpuMillicores]: String(spec.cpuMillicores),
    },
    // Every client of the engine can read these. All other variables come in the bootstrap payload.
    Env: [
      `${instanceVariables.bootstrap}=stdin`,
      `${instanceVariables.folder}=${FOLDER_INSIDE}`,
      "HOME=/tmp",
      `NODE_OPTIONS=${heapLimit(spec.memoryMib)}`,
    ],
    OpenStdin: true,
    StdinOnce: true,
    Tty: false,
    ...published(spec).exposed,
    HostConfig: {
      ...published(spec).bound,
      CapDrop: ["ALL"],
      SecurityOpt: ["no-new-privileges"],
      Privileged: false,
      ReadonlyRootfs: true,
      Tmpfs: { "/tmp": `rw,nosuid,nodev,size=${TEMPORARY_MIB}m,mode=1777` },
      Binds: [`${sharedFiles}:${FOLDER_INSIDE}:rw`],
      NetworkMode: network,
      PidsLimit: PROCESSES_MAX,
      Memory: memory,
      MemorySwap: memory,
      ...cpuLimit(options.cpuMillicores),
      // All of them: an engine that may not raise limits fails at its own defaults as soon as it is told one.
      Ulimits: [
        { Name: "fsize", Soft: FILE_MAX_BYTES, Hard: FILE_MAX_BYTES },
        { Name: "core", Soft: 0, Hard: 0 },
        { Name: "nofile", Soft: OPEN_FILES_MAX, Hard: OPEN_FILES_MAX },
        { Name: "nproc", Soft: OPEN_FILES_MAX, Hard: OPEN_FILES_MAX },
      ],
      LogConfig: { Type: "json-file", Config: { "max-size": ENGINE_LOG } },
      RestartPolicy: { Name: "no" },
    },
  };
}

/** Returns the bootstrap payload: the instance's environment, sent on its standard input. */
export function bootstrapPayloadOf(spec: InstanceSpec): string {
  return `${JSON.stringify({ environment: instanceEnvironment(spec) })}\n`;
}

/** Calls come through one UDP port, which has the same number inside and outside: that is what clients are told. */
function published({ media }: InstanceSpec) {
  if (media?.port === undefined) return {};
  const port = `${media.port}/udp`;
  return {
    exposed: { ExposedPorts: { [port]: {} } },
    bound: { PortBindings: { [port]: [{ HostPort: String(media.port) }] } },
  };
}
