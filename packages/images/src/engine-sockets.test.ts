import assert from "node:assert/strict";
import { test } from "node:test";
import { engineSockets } from "./engine-sockets.ts";

test("an engine that is named is the only one looked for, ours before Docker's own variable", () => {
  const both = { VOCALHOST_CONTAINER_ENGINE: "/run/a.sock", DOCKER_HOST: "unix:///run/b.sock" };
  assert.deepEqual(engineSockets(both, "/home/me"), [
    { path: "/run/a.sock", because: "VOCALHOST_CONTAINER_ENGINE" },
  ]);
  assert.deepEqual(engineSockets({ DOCKER_HOST: both.DOCKER_HOST }, "/home/me"), [
    { path: "/run/b.sock", because: "DOCKER_HOST" },
  ]);
});

test("otherwise where engines usually listen", () => {
  const paths = engineSockets({ XDG_RUNTIME_DIR: "/run/user/7" }, "/home/me").map(({ path }) => path);
  assert.deepEqual(paths, [
    "/var/run/docker.sock",
    "/run/podman/podman.sock",
    "/run/user/7/docker.sock",
    "/run/user/7/podman/podman.sock",
    "/home/me/.docker/run/docker.sock",
  ]);
});

test("an engine of another machine is refused with a sentence", () => {
  assert.throws(
    () => engineSockets({ DOCKER_HOST: "tcp://10.0.0.1:2375" }, "/home/me"),
    /^EngineAddressError: DOCKER_HOST must be the socket of an engine on this machine/,
  );
});
