import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startChild } from "../../machine/child.ts";

/** A cluster whose pods only pretend to run. */
export interface PretendedCluster extends AsyncDisposable {
  /** Environment variables of a service that makes its instances there. */
  environment: Record<string, string>;
  image: string;
  pid: number;
  /** How often its API server was asked so far. */
  calls(): Promise<number>;
}

export type ClusterAnswer =
  | { type: "ready"; url: string; token: string; image: string; registry: string }
  | { type: "calls"; calls: number };

export interface PretendedClusterOptions {
  file: string;
  namespace: string;
}

/** A stand-in API server, whose pods run at once; or another program that says where one is. */
export async function startPretendedCluster(
  { file, namespace }: PretendedClusterOptions = {
    file: "bench/hosted/pretended/cluster-main.ts",
    namespace: "bots",
  },
): Promise<PretendedCluster> {
  await using stack = new AsyncDisposableStack();
  const child = stack.use(startChild({ file, args: [namespace] }));
  const heard = async (): Promise<ClusterAnswer> => {
    const failed = child.ended.then((how) => {
      throw new Error(`The pretended cluster ended with ${how}:\n${child.output()}`);
    });
    const [answer] = (await Promise.race([once(child.process, "message"), failed])) as [ClusterAnswer];
    return answer;
  };
  const ready = await heard();
  if (ready.type !== "ready") throw new Error("The pretended cluster says something strange");
  const folder = mkdtempSync(join(tmpdir(), "vocalhost-pretended-"));
  stack.defer(() => rmSync(folder, { recursive: true, force: true }));
  const kubeconfig = join(folder, "kubeconfig");
  writeFileSync(kubeconfig, JSON.stringify(configOf({ ...ready, namespace })));
  const owned = stack.move();
  return {
    environment: {
      VOCALHOST_DRIVER: "kubernetes",
      VOCALHOST_KUBERNETES_CONFIG: kubeconfig,
      VOCALHOST_KUBERNETES_NAMESPACE: namespace,
      VOCALHOST_REGISTRIES: ready.registry,
    },
    image: ready.image,
    pid: child.pid,
    async calls() {
      child.process.send("calls");
      const answer = await heard();
      return answer.type === "calls" ? answer.calls : 0;
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

function configOf({ url, token, namespace }: { url: string; token: string; namespace: string }): object {
  const name = "pretended";
  return {
    "current-context": name,
    clusters: [{ name, cluster: { server: url, "insecure-skip-tls-verify": true } }],
    contexts: [{ name, context: { cluster: name, user: name, namespace } }],
    users: [{ name, user: { token } }],
  };
}
