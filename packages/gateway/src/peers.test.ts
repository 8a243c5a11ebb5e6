import assert from "node:assert/strict";
import { once } from "node:events";
import { copyFileSync, readFileSync } from "node:fs";
import { request as plainRequest, type IncomingMessage } from "node:http";
import { request } from "node:https";
import type { AddressInfo } from "node:net";
import { after, before, describe, test } from "node:test";
import { makeTestAuthority, type TestAuthority } from "../../../testing/peer-certificates.ts";
import { until } from "../../../testing/wait.ts";
import { createControllerLink } from "./controller-link.ts";
import { openNetworkControllers } from "./network-controllers.ts";
import { defaultGatewayTiming, type GatewayLog } from "./gateway-options.ts";
import { silentLog } from "@vocalhost/base/log";
import type { PeerFiles } from "@vocalhost/base/peers/peer-config";
import { openPeerCredentials } from "@vocalhost/base/peers/peer-credentials";
import { peerNames } from "@vocalhost/base/peers/peer-names";
import { createPeerServer } from "@vocalhost/base/peers/peer-server";

describe("controllers and gateways that meet over the network", () => {
  const stack = new AsyncDisposableStack();
  let authority: TestAuthority;
  let stranger: TestAuthority;
  let controllerFiles: PeerFiles;
  let gatewayFiles: PeerFiles;
  before(async () => {
    authority = stack.use(await makeTestAuthority());
    stranger = stack.use(await makeTestAuthority());
    controllerFiles = await authority.issue("controller", [peerNames.controller]);
    gatewayFiles = await authority.issue("gateway", [peerNames.gateway]);
  });
  after(() => stack.disposeAsync());

  test("a gateway is let in, and nobody else gets a single answer", async () => {
    const seen: string[] = [];
    await using server = await startServer(controllerFiles, (path) => seen.push(path));
    const ask = (files: Partial<PeerFiles>, path: string) => askServer(server.port, files, path);
    assert.equal(await ask(gatewayFiles, "/gateway"), 200);
    const foreign = await stranger.issue("gateway", [peerNames.gateway]);
    const unnamed = await authority.issue("unnamed", ["gateway.example.com"]);
    assert.equal(await ask({ ca: authority.ca }, "/none"), "refused");
    assert.equal(await ask({ ...foreign, ca: authority.ca }, "/foreign"), "refused");
    assert.equal(await ask(controllerFiles, "/controller"), "refused");
    assert.equal(await ask(unnamed, "/unnamed"), "refused");
    assert.equal(await askPlainly(server.port), "refused");
    assert.deepEqual(seen, ["/gateway"]);
  });

  test("a gateway believes nobody who shows no controller's certificate", async () => {
    const warnings: string[] = [];
    const log: GatewayLog = {
      ...silentLog,
      warn: (fields) => void warnings.push((fields as { problem: string }).problem),
    };
    await using impostor = await startServer(gatewayFiles, () => undefined);
    await using link = openLink([impostor.port], gatewayFiles, log);
    await until(() => warnings.length > 0, 5_000, "complaint about the certificate");
    assert.match(warnings[0] ?? "", /does not match/);
    await assert.rejects(link.open({ method: "GET", path: "/v1/agents", headers: [], awayMs: 0 }), {
      code: "SERVICE_UNAVAILABLE",
    });
  });

  test("changes go to the one that leads, reads to the others, and both to whoever is left", async () => {
    const seen = { first: [] as string[], second: [] as string[] };
    await using first = await startServer(controllerFiles, (path) => seen.first.push(path));
    await using second = await startServer(controllerFiles, (path) => seen.second.push(path));
    first.say({ leads: true, epoch: 1 });
    second.say({ leads: false, epoch: 0 });
    await using link = openLink([first.port, second.port], gatewayFiles, silentLog);
    await link.send("/change", "leader");
    await until(() => link.isPresent(2), 5_000, "both controllers");
    await link.send("/read", "any");
    assert.deepEqual(seen, { first: ["/change"], second: ["/read"] });
    first.vanish();
    await until(() => link.isPresent(1), 5_000, "loss of the first");
    const waiting = link.send("/change-again", "leader");
    await link.send("/read-again", "any");
    second.say({ leads: true, epoch: 2 });
    await waiting;
    await link.send("/read-more", "any");
    assert.deepEqual(seen.second, ["/read", "/read-again", "/change-again", "/read-more"]);
  });

  test("of two that say they lead the newer one does", async () => {
    const seen: string[] = [];
    await using frozen = await startServer(controllerFiles, (path) => seen.push(`frozen ${path}`));
    await using next = await startServer(controllerFiles, (path) => seen.push(path));
    frozen.say({ leads: true, epoch: 4 });
    next.say({ leads: false, epoch: 0 });
    await using link = openLink([frozen.port, next.port], gatewayFiles, silentLog);
    await until(() => link.isPresent(2), 5_000, "both controllers");
    next.say({ leads: true, epoch: 5 });
    await until(() => link.isPresent(1), 5_000, "one to go to");
    await link.send("/change", "leader");
    assert.deepEqual(seen, ["/change"]);
  });

  test("a renewed certificate is used without a restart", async () => {
    const [own, next] = [
      await authority.issue("renewed", [peerNames.controller]),
      await authority.issue("next", [peerNames.controller]),
    ];
    using credentials = openPeerCredentials(own, { log: silentLog, lookAgainMs: 20 });
    const before = credentials.current.cert;
    copyFileSync(next.key, own.key);
    copyFileSync(next.cert, own.cert);
    await until(() => credentials.current.cert !== before, 5_000, "the new certificate");
  });

  function openLink(ports: number[], files: PeerFiles, log: GatewayLog) {
    const credentials = openPeerCredentials(files, { log: silentLog });
    const controllers = openNetworkControllers({
      addresses: ports.map((port) => ({ host: "127.0.0.1", port })),
      credentials,
      log,
    });
    const link = createControllerLink(controllers, defaultGatewayTiming);
    return {
      ...link,
      async send(path: string, needs: "leader" | "any"): Promise<void> {
        const sent = await link.open({ method: "GET", path, headers: ["host", "controller"], needs });
        sent.end();
        const [answer] = (await once(sent, "response")) as [IncomingMessage];
        await once(answer.resume(), "end");
      },
      isPresent: (count: number) => countOf() === count,
      async [Symbol.asyncDispose]() {
        controllers[Symbol.dispose]();
        credentials[Symbol.dispose]();
      },
    };
    function countOf(): number {
      const doors = [controllers.pick("leader"), ...times(8, () => controllers.pick("any"))];
      return new Set(doors.filter((door) => door !== undefined)).size;
    }
  }
});

function times<T>(count: number, make: () => T): T[] {
  return Array.from({ length: count }, make);
}

interface Role {
  leads: boolean;
  epoch: number;
}

/** Starts a controller's server that records its requests. */
async function startServer(files: PeerFiles, seen: (path: string) => void) {
  const credentials = openPeerCredentials(files, { log: silentLog });
  let role: Role = { leads: true, epoch: 1 };
  const told = new Set<(role: Role) => void>();
  const server = createPeerServer(
    (asked, response) => {
      if (asked.url !== "/internal/role") {
        seen(asked.url ?? "");
        response.end("{}");
        return;
      }
      const tell = (now: Role): void => void response.write(`${JSON.stringify(now)}\n`);
      told.add(tell);
      tell(role);
    },
    { credentials, headersMaxBytes: 16_384, log: silentLog },
  );
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const vanish = (): void => {
    server.close();
    server.closeAllConnections();
  };
  return {
    port: (server.address() as AddressInfo).port,
    say(now: Role) {
      role = now;
      for (const tell of told) tell(now);
    },
    vanish,
    async [Symbol.asyncDispose]() {
      vanish();
      credentials[Symbol.dispose]();
    },
  };
}

async function askServer(port: number, files: Partial<PeerFiles>, path: string): Promise<number | "refused"> {
  const secrets = Object.fromEntries(
    Object.entries(files).map(([name, file]) => [name, readFileSync(file, "utf8")]),
  );
  const { promise, resolve } = Promise.withResolvers<number | "refused">();
  request({ host: "127.0.0.1", port, path, agent: false, servername: peerNames.controller, ...secrets })
    .on("error", () => resolve("refused"))
    .once("response", (response) => resolve(response.resume().statusCode ?? 0))
    .end();
  return promise;
}

async function askPlainly(port: number): Promise<number | "refused"> {
  const { promise, resolve } = Promise.withResolvers<number | "refused">();
  plainRequest({ host: "127.0.0.1", port, path: "/plain", agent: false })
    .on("error", () => resolve("refused"))
    .once("response", (response) => resolve(response.resume().statusCode ?? 0))
    .end();
  return promise;
}
