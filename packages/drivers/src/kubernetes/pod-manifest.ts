import { baseUser } from "@vocalhost/images";
import { instanceVariables } from "@vocalhost/protocol";
import type { V1EnvVar, V1OwnerReference, V1Pod, V1Secret } from "@kubernetes/client-node";
import type { InstanceMedia, InstanceSpec } from "../driver.ts";
import { heapLimit } from "../heap-limit.ts";
import { instanceEnvironment, PORT_INSIDE } from "../instance-environment.ts";
import {
  CONTAINER,
  FINALIZER,
  labels,
  labelValue,
  OWN_MILLICORES,
  SAFE_TO_EVICT,
  type Names,
} from "./names.ts";

/** What all pods of a service have in common. */
export interface PodSettings {
  nodeSelector: Record<string, string>;
  runtimeClass: string | undefined;
  priorityClass: string | undefined;
  /** Whose images need no pull secret of their agents. */
  pullSecrets: string[];
}

export interface PodOptions {
  spec: InstanceSpec;
  image: string;
  names: Names;
  settings: PodSettings;
  owners: V1OwnerReference[];
  pullSecrets: string[];
  /** Where it says that it listens. */
  readyEndpoint: string | undefined;
  /** What it loads with, its profile's share or more. */
  cpuMillicores: number;
}

const FOLDER_INSIDE = "/tmp";
const TERMINATION_MESSAGE_FILE = "/dev/termination-log"; // kept in the pod's status after its end, by any kubelet
const TEMPORARY_MIB = 64;
const LOST_NODE_SECONDS = 60; // before the cluster gives a pod on it up; the default is five minutes

/** The strict profile, which is that of the Pod Security Standard "restricted" and more. There is no other. */
export function podManifest(options: PodOptions): V1Pod {
  const { spec, image, names, settings, owners, pullSecrets, readyEndpoint, cpuMillicores } = options;
  const name = names.pod(spec.id);
  const secrets = [...settings.pullSecrets, ...pullSecrets];
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name,
      labels: { ...ownLabels(spec, names), [labels.kind]: "instance", [labels.state]: "idle" },
      annotations: {
        [SAFE_TO_EVICT]: "true",
        ...(cpuMillicores === spec.cpuMillicores ? {} : { [OWN_MILLICORES]: String(spec.cpuMillicores) }),
      },
      finalizers: [FINALIZER],
      ownerReferences: owners,
    },
    spec: {
      restartPolicy: "Never",
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      terminationGracePeriodSeconds: 30,
      securityContext: {
        runAsNonRoot: true,
        // Never the image's own: it may be root.
        runAsUser: baseUser.uid,
        runAsGroup: baseUser.gid,
        seccompProfile: { type: "RuntimeDefault" },
      },
      ...(Object.keys(settings.nodeSelector).length > 0 ? { nodeSelector: settings.nodeSelector } : {}),
      ...(settings.runtimeClass === undefined ? {} : { runtimeClassName: settings.runtimeClass }),
      ...(settings.priorityClass === undefined ? {} : { priorityClassName: settings.priorityClass }),
      ...(secrets.length > 0 ? { imagePullSecrets: secrets.map((each) => ({ name: each })) } : {}),
      tolerations: ["not-ready", "unreachable"].map((key) => ({
        key: `node.kubernetes.io/${key}`,
        operator: "Exists",
        effect: "NoExecute",
        tolerationSeconds: LOST_NODE_SECONDS,
      })),
      volumes: [{ name: "temporary", emptyDir: { medium: "Memory", sizeLimit: `${TEMPORARY_MIB}Mi` } }],
      containers: [
        {
          name: CONTAINER,
          image,
          imagePullPolicy: "IfNotPresent", // it is pinned
          envFrom: [{ secretRef: { name } }],
          env: environment(spec, readyEndpoint),
          ports: [{ containerPort: PORT_INSIDE, protocol: "TCP" }, ...mediaPorts(spec.media)],
          resources: resources(spec, cpuMillicores),
          terminationMessagePath: TERMINATION_MESSAGE_FILE,
          terminationMessagePolicy: "File",
          volumeMounts: [{ name: "temporary", mountPath: "/tmp" }],
          securityContext: {
            allowPrivilegeEscalation: false,
            privileged: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ["ALL"] },
          },
        },
      ],
    },
  };
}

/** The bot's secrets and the instance's token: nobody who may look at pods can read them there. */
export function secretManifest({
  spec,
  names,
  owners,
}: Pick<PodOptions, "spec" | "names" | "owners">): V1Secret {
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      name: names.pod(spec.id),
      labels: { ...ownLabels(spec, names), [labels.kind]: "instance" },
      ownerReferences: owners,
    },
    immutable: true,
    type: "Opaque",
    stringData: instanceEnvironment(spec),
  };
}

function ownLabels({ id, owner }: InstanceSpec, names: Names): Record<string, string> {
  return {
    "app.kubernetes.io/managed-by": "vocalhost",
    [labels.service]: names.service,
    [labels.instance]: id,
    ...(owner
      ? {
          [labels.agent]: owner.agentId,
          [labels.agentName]: labelValue(owner.agentName),
          [labels.deployment]: owner.deploymentId,
        }
      : {}),
  };
}

// Later ones win over those of the Secret, whatever a bot's secret set has in it.
function environment(spec: InstanceSpec, readyEndpoint: string | undefined): V1EnvVar[] {
  const { media, memoryMib } = spec;
  const fromStatus = (name: string, fieldPath: string): V1EnvVar => ({
    name,
    valueFrom: { fieldRef: { fieldPath } },
  });
  return [
    { name: "HOME", value: "/tmp" },
    // A bot that brings options of its own says how large its heap may be.
    ...("NODE_OPTIONS" in spec.environment ? [] : [{ name: "NODE_OPTIONS", value: heapLimit(memoryMib) }]),
    { name: instanceVariables.folder, value: FOLDER_INSIDE },
    { name: instanceVariables.terminationMessage, value: TERMINATION_MESSAGE_FILE },
    ...(readyEndpoint === undefined ? [] : [{ name: instanceVariables.readyUrl, value: readyEndpoint }]),
    fromStatus(instanceVariables.ip, "status.podIP"),
    // Its port is one of its node, so clients are told where the node is, unless we were told better.
    ...(media?.port !== undefined && media.addresses.length === 0
      ? [fromStatus(instanceVariables.mediaAddress, "status.hostIP")]
      : []),
  ];
}

function mediaPorts(media: InstanceMedia | undefined) {
  if (media?.port === undefined) return [];
  return [{ containerPort: media.port, hostPort: media.port, protocol: "UDP" }];
}

// The request is a pod's weight while its node is busy: a tiny one would starve calls.
function resources(spec: InstanceSpec, cpuMillicores: number) {
  const memory = `${spec.memoryMib}Mi`;
  return {
    requests: { cpu: `${Math.ceil(spec.cpuMillicores / 2)}m`, memory },
    limits: { cpu: `${cpuMillicores}m`, memory },
  };
}
