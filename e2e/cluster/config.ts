/** What the tests on a cluster need to know beyond `KUBECONFIG`; all of it is said in CONTRIBUTING.md. */
export interface TestClusterConfig {
  registry: string | undefined;
  /** File with the certificate of the authority that has signed the registry's, if it is a private one. */
  authority: string | undefined;
  machine: string | undefined;
  /** UDP ports of the nodes that calls may come through. */
  mediaPorts: string | undefined;
  /** Commands that stop the API server and start it again. */
  api: { stop: string; start: string } | undefined;
}

export function readTestCluster(environment: NodeJS.ProcessEnv = process.env): TestClusterConfig {
  if (!environment["KUBECONFIG"])
    throw new Error(
      "These tests need a cluster. Name it: KUBECONFIG=~/.kube/config npm run check:kubernetes",
    );
  const text = (name: string): string | undefined => environment[`VOCALHOST_TEST_${name}`] || undefined;
  const [stop, start] = [text("STOP_API"), text("START_API")];
  return {
    registry: text("REGISTRY"),
    authority: environment["NODE_EXTRA_CA_CERTS"] || undefined,
    machine: text("MACHINE"),
    mediaPorts: text("MEDIA_PORTS"),
    api: stop === undefined || start === undefined ? undefined : { stop, start },
  };
}
