import { join } from "node:path";

/** A place where a container engine of this machine may listen. */
export interface EngineSocket {
  path: string;
  /** Why it is looked at, for people: `VOCALHOST_CONTAINER_ENGINE`, `DOCKER_HOST`, or what usually listens there. */
  because: string;
}

type Environment = Record<string, string | undefined>;

/** Thrown for an address that is not a socket of this machine. The message is for the operator who has set it. */
export class EngineAddressError extends Error {
  override readonly name = "EngineAddressError";
}

/** Returns the sockets to try, in this order. A named socket is the only one. */
export function engineSockets(environment: Environment, home: string): EngineSocket[] {
  for (const name of ["VOCALHOST_CONTAINER_ENGINE", "DOCKER_HOST"]) {
    const value = environment[name];
    if (value) return [{ path: socketPath(name, value), because: name }];
  }
  const runtime = environment["XDG_RUNTIME_DIR"];
  return [
    { path: "/var/run/docker.sock", because: "Docker" },
    { path: "/run/podman/podman.sock", because: "Podman" },
    ...(runtime
      ? [
          { path: join(runtime, "docker.sock"), because: "Docker without root" },
          { path: join(runtime, "podman/podman.sock"), because: "Podman without root" },
        ]
      : []),
    { path: join(home, ".docker/run/docker.sock"), because: "Docker Desktop" },
  ];
}

function socketPath(name: string, value: string): string {
  const path = value.replace(/^unix:\/\//, "");
  if (path.startsWith("/")) return path;
  throw new EngineAddressError(
    `${name} must be the socket of an engine on this machine, such as unix:///run/podman/podman.sock, got "${value}"`,
  );
}
