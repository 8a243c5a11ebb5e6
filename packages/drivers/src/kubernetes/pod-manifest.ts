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

/** The settings that all pods of a service share. */
export interface PodSettings {
  nodeSelector: Record<string, string>;
  runtimeClass: string | undefined;
  priorityClass: string | undefined;
  /** Names of Secrets for images whose agents have no pull secret. */
  pullSecrets: string[];
}

export interface PodOptions {
  spec: InstanceSpec;
  image: string;
  names: Names;
  settings: PodSettings;
  owners: V1OwnerReference[];
  pullSecrets: string[];
  /** The URL at which the instance reports how its boot goes. */
  readyEndpoint: string | undefined;
  /** The CPU limit that it loads with: its profile's or more. */
  cpuMillicores: number;
}

const FOLDER_INSIDE = "/tmp";
const TERMINATION_MESSAGE_FILE = "/dev/termination-log"; // kept in the pod's status after its end, by any kubelet
const TEMPORARY_MIB = 64;
const LOST_NODE_SECONDS = 60; // then the cluster gives up the pods of a lost node; the default is five minutes

/** Returns a pod that is stricter than the Pod Security Standard "restricted". There is no other profile. */
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

/** Returns a Secret with the bot's secrets and the instance's token, which the right to read pods does not show. */
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

// These override variables of the Secret, which holds the bot's secret set.
function environment(spec: InstanceSpec, readyEndpoint: string | undefined): V1EnvVar[] {
  const { media, memoryMib } = spec;
  const fromStatus = (name: string, fieldPath: string): V1EnvVar => ({
    name,
    valueFrom: { fieldRef: { fieldPath } },
  });
  return [
    { name: "HOME", value: "/tmp" },
    // A bot with options of its own sets its heap limit itself.
    ...("NODE_OPTIONS" in spec.environment ? [] : [{ name: "NODE_OPTIONS", value: heapLimit(memoryMib) }]),
    { name: instanceVariables.folder, value: FOLDER_INSIDE },
    { name: instanceVariables.terminationMessage, value: TERMINATION_MESSAGE_FILE },
    ...(readyEndpoint === undefined ? [] : [{ name: instanceVariables.readyUrl, value: readyEndpoint }]),
    fromStatus(instanceVariables.ip, "status.podIP"),
    // The port belongs to the node, so clients get the address of the node unless addresses are configured.
    ...(media?.port !== undefined && media.addresses.length === 0
      ? [fromStatus(instanceVariables.mediaAddress, "status.hostIP")]
      : []),
  ];
}

function mediaPorts(media: InstanceMedia | undefined) {
  if (media?.port === undefined) return [];
  return [{ containerPort: media.port, hostPort: media.port, protocol: "UDP" }];
}

// The CPU request is a pod's weight on a busy node; a tiny one would starve calls.
function resources(spec: InstanceSpec, cpuMillicores: number) {
  const memory = `${spec.memoryMib}Mi`;
  return {
    requests: { cpu: `${Math.ceil(spec.cpuMillicores / 2)}m`, memory },
    limits: { cpu: `${cpuMillicores}m`, memory },
  };
}
