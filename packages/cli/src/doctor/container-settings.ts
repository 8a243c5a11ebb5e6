type Environment = Record<string, string | undefined>;

/** Settings as the first region has them whose bots are in containers; undefined where none has. */
export function containerSettings(environment: Environment): Environment | undefined {
  if (environment["VOCALHOST_DRIVER"] === "container") return environment;
  const own = Object.keys(environment).find(
    (name) => name.startsWith("VOCALHOST_DRIVER__") && environment[name] === "container",
  );
  if (own === undefined) return undefined;
  const suffix = own.slice("VOCALHOST_DRIVER".length);
  const engine = environment[`VOCALHOST_CONTAINER_ENGINE${suffix}`];
  return engine ? { ...environment, VOCALHOST_CONTAINER_ENGINE: engine } : environment;
}
