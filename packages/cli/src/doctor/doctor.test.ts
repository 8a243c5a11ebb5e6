import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { mkdtempDisposableSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer, type RequestListener } from "node:http";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { startFakeService } from "../testing/fake-service.ts";
import { checkCarrier, isPrivate } from "./check-carrier.ts";
import { checkEngine, describeNetworkPolicies } from "./check-engine.ts";
import { checkDatabase, checkDevPort, checkIce, describeBots, describeDisk } from "./check-machine.ts";
import { checkService } from "./check-service.ts";

const { signal } = new AbortController();
const ORGANIZATIONS = { organizations: [{ name: "main", verboseName: "Main" }] };

/** Answers binding requests as a STUN server does. */
async function startStun(): Promise<AsyncDisposable & { port: number }> {
  const socket = createSocket("udp4");
  socket.on("message", (request, from) => {
    const answer = Buffer.from("0101000c2112a442000000000000000000000000002000080001", "hex");
    request.copy(answer, 8, 8, 20);
    const address = Buffer.alloc(6);
    address.writeUInt16BE(5000 ^ 0x2112, 0);
    address.writeUInt32BE((0xcb007107 ^ 0x2112a442) >>> 0, 2);
    socket.send(Buffer.concat([answer, address]), from.port, from.address);
  });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  return {
    port: socket.address().port,
    async [Symbol.asyncDispose]() {
      socket.close();
      await once(socket, "close");
    },
  };
}

test("ICE: a server that answers, one that does not, and settings that are none", async () => {
  const stun = await startStun();
  const iceServers = JSON.stringify([{ urls: [`stun:127.0.0.1:${stun.port}`] }]);
  const seen = await checkIce({ iceServers, isLocal: false }, signal);
  assert.deepEqual(
    [seen.state, seen.says],
    ["ok", `127.0.0.1:${stun.port} sees this machine as 203.0.113.7:5000`],
  );
  await stun[Symbol.asyncDispose]();
  assert.equal((await checkIce({ iceServers, isLocal: false }, signal)).state, "failed");
  assert.equal((await checkIce({ iceServers: "nonsense", isLocal: false }, signal)).state, "failed");
});

test("database: none, a whole one, one with damaged pages, and one that is something else", async () => {
  using folder = mkdtempDisposableSync(join(tmpdir(), "vocalhost-doctor-"));
  const file = join(folder.path, "vocalhost.db");
  const look = async (): Promise<string[]> => {
    const hop = await checkDatabase({ dataDir: folder.path, settings: undefined }, signal);
    return [hop.state, hop.says, ...hop.fixes];
  };
  assert.deepEqual(await look(), ["skipped", "there is no SQLite file here"]);
  {
    using database = new DatabaseSync(file);
    database.exec("CREATE TABLE rows (text); CREATE INDEX texts ON rows (text)");
    const insert = database.prepare("INSERT INTO rows VALUES (?)");
    for (let at = 0; at < 200; at += 1) insert.run(`${at}`.repeat(300));
  }
  assert.deepEqual(await look(), ["ok", `${file} is whole`]);
  const bytes = readFileSync(file);
  for (const damaged of [bytes.fill(0xa5, bytes.length - 8 * 4_096), "no database at all ".repeat(1_000)]) {
    writeFileSync(file, damaged);
    const [state, says, fix] = await look();
    assert.equal(state, "failed");
    assert.ok(says?.startsWith(`${file} is damaged: `), says);
    assert.match(fix ?? "", /restore the newest backup: vocalhost restore/);
  }
});

test("the port of dev is free or not", async () => {
  const server = createServer().listen(0, "localhost");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  assert.equal((await checkDevPort(port)).state, "warning");
  server.close();
  await once(server, "close");
  assert.equal((await checkDevPort(port)).state, "ok");
});

test("an engine is found at its socket, missed only by those who need one, and told when it is stuck", async () => {
  const folder = mkdtempSync(join(tmpdir(), "doctor-"));
  const path = join(folder, "engine.sock");
  const needed = { VOCALHOST_DRIVER: "container" };
  const check = (environment: Record<string, string>, sockets = [{ path, because: "Docker" }]) =>
    checkEngine({ environment, sockets }, signal);
  const serve = async (listener: RequestListener) => {
    const server = createHttpServer(listener).listen(path);
    await once(server, "listening");
    return server;
  };
  try {
    assert.equal((await check({})).state, "ok");
    assert.equal((await check(needed)).state, "failed");
    assert.match(
      (await checkEngine({ environment: { DOCKER_HOST: "tcp://10.0.0.1" } }, signal)).says,
      /this machine/,
    );
    const engine = await serve((request, response) =>
      response.end(
        JSON.stringify(request.url === "/version" ? { Version: "1.2" } : { LiveRestoreEnabled: false }),
      ),
    );
    assert.deepEqual(await check({}), {
      name: "engine",
      state: "ok",
      says: `Docker 1.2 answers at ${path}`,
      fixes: [],
    });
    assert.match((await check(needed)).says, /when it restarts, every call ends$/);
    engine.closeAllConnections();
    engine.close();
    await once(engine, "close");
    const broken = await serve((_request, response) => response.writeHead(500).end());
    assert.equal((await check({})).state, "warning");
    assert.equal((await check(needed)).state, "failed");
    broken.closeAllConnections();
    broken.close();
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("bots that have no network policy are told, with the commands that change it", () => {
  const seenAs = (state: string, bridge = "br0") => ({
    ...{ networkPolicy: { network: "vocalhost", bridge }, table: "vocalhost_vocalhost", rules: "", state },
  });
  assert.equal(describeNetworkPolicies({ networkPolicies: [] }).state, "skipped");
  const both = describeNetworkPolicies({ networkPolicies: [seenAs("up"), seenAs("up", "br1")] });
  assert.equal(both.state, "ok");
  assert.match(both.says, /behind br0 and br1/);
  const down = describeNetworkPolicies({ networkPolicies: [seenAs("up"), seenAs("down", "br1")] });
  assert.match(down.says, /^bots behind br1 reach this machine/);
  assert.equal(down.state, "warning");
  assert.match(
    down.fixes.join("\n"),
    /vocalhost network-policy up[\s\S]+network-policy show \| sudo nft -f -[\s\S]+bridge-nf-call/,
  );
  const unseen = describeNetworkPolicies({ networkPolicies: [seenAs("Only root can see it")] });
  assert.deepEqual(
    [unseen.state, unseen.says],
    ["warning", "whether bots behind br0 are kept from this machine cannot be seen: Only root can see it"],
  );
});

test("bots that are not kept apart are told, with the ways out, and what holds them to their memory", () => {
  const own = describeBots({
    processes: { users: { first: 200_000, last: 265_535 }, memory: "control-groups" },
  });
  assert.equal(own.state, "ok");
  assert.match(own.says, /^run as users 200000-265535, .*; control groups hold them/);
  const shared = describeBots({ processes: { users: null, why: "VOCALHOST_BOT_UIDS=off", memory: "watch" } });
  assert.equal(shared.state, "warning");
  assert.match(shared.says, /VOCALHOST_BOT_UIDS=off.* can read its keys.*Delegate=yes/);
  assert.match(shared.fixes.join("\n"), /VOCALHOST_DRIVER=container/);
  assert.equal(describeBots({ processes: null }).state, "ok");
});

test("a disk that runs low is told, with what takes the space", () => {
  const GIB = 1024 ** 3;
  const disk = (freeBytes: number, totalBytes = 40 * GIB) =>
    describeDisk({
      dataFolder: "/data",
      space: { freeBytes, totalBytes },
      areas: { database: 3 * 1024 ** 2, builds: 2 * GIB, uploads: 0 },
    });
  const fine = disk(20 * GIB);
  assert.equal(fine.says, "20.0 GiB of 40.0 GiB free; /data: builds 2.0 GiB, database 3.0 MiB");
  assert.equal(fine.state, "ok");
  assert.equal(disk(3 * GIB).state, "warning");
  assert.equal(disk(6 * GIB, 4_000 * GIB).state, "ok"); // a small share of a large disk
  assert.equal(disk(0.1 * GIB).state, "failed");
  assert.equal(describeDisk({ dataFolder: "/data", space: null }).state, "skipped");
});

test("a webhook must be where carriers can come", async () => {
  for (const address of [
    "10.1.2.3",
    "127.0.0.1",
    "192.168.1.1",
    "172.20.0.1",
    "169.254.1.1",
    "::1",
    "fd00::1",
  ])
    assert.equal(isPrivate(address), true, address);
  for (const address of ["203.0.113.7", "172.32.0.1", "2001:db8::1"])
    assert.equal(isPrivate(address), false, address);
  assert.equal((await checkCarrier(undefined, signal)).state, "skipped");
  assert.equal((await checkCarrier("not an address", signal)).state, "failed");
  assert.match((await checkCarrier("http://localhost:7860/", signal)).says, /carriers cannot reach/);
});

test("the first hop to the service that fails is named, those behind it are not guessed at", async () => {
  await using service = await startFakeService({
    "GET /healthz": { body: { status: "ok" } },
    "GET /readyz": { status: 503, body: { error: "no" } },
  });
  const credentials = {
    apiUrl: service.url,
    token: "sk_x",
    organization: undefined,
    publicKey: undefined,
    source: "file" as const,
  };
  const hops = await checkService(credentials, signal);
  assert.deepEqual(
    hops.map(({ name, state }) => `${name} ${state}`),
    ["address ok", "port ok", "gateway ok", "controller failed", "clock skipped", "credentials skipped"],
  );
});

test("credentials that are refused, missing or good", async () => {
  await using service = await startFakeService({
    "GET /healthz": { body: { status: "ok" } },
    "GET /readyz": { body: { status: "ready" } },
    "GET /v1/users": { body: { user: { userId: "u", emails: [{ emailAddress: "ada@example.com" }] } } },
    "GET /v1/organizations": { body: ORGANIZATIONS },
  });
  const base = { apiUrl: service.url, organization: undefined, publicKey: undefined };
  const good = await checkService({ ...base, token: "sk_x", source: "environment" }, signal);
  assert.equal(good.at(-1)?.says, "ada@example.com of main, from VOCALHOST_API_KEY");
  const nobody = await checkService({ ...base, token: undefined, source: "none" }, signal);
  assert.deepEqual([nobody.at(-1)?.name, nobody.at(-1)?.state], ["credentials", "failed"]);
});
