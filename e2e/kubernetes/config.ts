/** What the tests on a cluster need to know beyond `KUBECONFIG`. */
export function readTestCluster(environment: NodeJS.ProcessEnv = process.env): {
  registry: string | undefined;
  machine: string | undefined;
} {
  if (!environment["KUBECONFIG"])
    throw new Error(
      "These tests need a cluster. Name it: KUBECONFIG=~/.kube/config npm run check:kubernetes",
    );
  return {
    registry: environment["VOCALHOST_TEST_REGISTRY"] || undefined,
    machine: environment["VOCALHOST_TEST_MACHINE"] || undefined,
  };
}
