import assert from "node:assert/strict";
import { once } from "node:events";
import { renameSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { after, test } from "node:test";
import { createBotFolder } from "../harness/bot-folder.ts";
import { callBot, createPeerClient, freePeerClients } from "../harness/peer-client.ts";
import { call } from "../harness/raw-http.ts";
import { openSocket } from "../harness/socket-client.ts";
import { until, within } from "../../testing/wait.ts";
import {
  botThatSays,
  isRunning,
  newestVersion,
  openSession,
  PROMPT,
  spawnDev,
  spawnDevOnTerminal,
  startDev,
  versionOf,
  type DevProcess,
} from "./dev-process.ts";

const files = { "bot.ts": botThatSays("first"), "prompt.ts": PROMPT };
const SOON_MS = 60_000; // on a loaded machine

after(freePeerClients);

function save(dev: DevProcess, name: string, text: string): void {
  writeFileSync(join(dev.folder.path, name), text);
}

/** As many editors save: a new file takes the place of the old one. */
function saveByRename(dev: DevProcess, name: string, text: string): void {
  writeFileSync(join(dev.folder.path, `${name}.new~`), text);
  renameSync(join(dev.folder.path, `${name}.new~`), join(dev.folder.path, name));
}

async function untilNewest(port: number, text: string): Promise<void> {
  await until(async () => (await newestVersion(port)).text === text, SOON_MS, `code that says ${text}`);
}

test("options that mean nothing end it at once, with the nearest known one", async () => {
  using folder = createBotFolder(files);
  const program = spawnDev(folder, ["--port", "0", "--prxy", "bots.example.com"]);
  const [code] = (await within(once(program.process, "exit"), SOON_MS, "the end")) as [number];
  assert.equal(code, 2);
  const said = program.output().match(/--prxy means nothing to the runner\. Did you mean --proxy\?/g);
  assert.equal(said?.length, 1, program.output());
});

test("a saved file serves the next session, a call in progress stays on the old code", async () => {
  await using dev = await startDev({ files });
  using first = await openSession(dev.port);
  const before = await versionOf(first);
  assert.equal(before.text, "first");

  saveByRename(dev, "bot.ts", botThatSays("second"));
  await untilNewest(dev.port, "second");
  using second = await openSession(dev.port);
  assert.equal((await versionOf(second)).text, "second");
  assert.deepEqual(await versionOf(first), before);
  assert.match(dev.program.output(), /New code is running.*1 live session stays on the old code/);

  saveByRename(dev, "bot.ts", botThatSays("third"));
  await untilNewest(dev.port, "third");
  assert.equal((await versionOf(second)).text, "second");
  assert.deepEqual(await versionOf(first), before);

  // Only its last session keeps old code.
  first.socket.close();
  await until(() => !isRunning(before.pid), SOON_MS, "end of the first code");
  assert.equal((await versionOf(second)).text, "second");
});

test("code without sessions makes room for the new at once, also when an import of it changes", async () => {
  await using dev = await startDev({ files });
  const before = await newestVersion(dev.port);
  save(dev, "prompt.ts", `export const prompt: string = "be brief";\n`);
  await until(async () => (await newestVersion(dev.port)).prompt === "be brief", SOON_MS, "the new prompt");
  await until(() => !isRunning(before.pid), SOON_MS, "end of the old code");
  assert.match(dev.program.output(), /prompt\.ts changed/);
});

test("a session that was started before the save and connects after it gets its own code", async () => {
  await using dev = await startDev({ files });
  const start = async (transport: string) => {
    const answer = await call(dev.port, "POST /start", { body: { transport } });
    assert.equal(answer.status, 200, answer.body + dev.program.output());
    return answer;
  };
  const socketAnswer = await start("websocket");
  const webrtc = (await start("webrtc")).json() as { sessionId: string };
  const openPeer = await callBot({ port: dev.port });

  save(dev, "bot.ts", botThatSays("second"));
  await untilNewest(dev.port, "second");

  using socket = await openSocket((socketAnswer.json() as { wsUrl: string }).wsUrl);
  assert.equal((await versionOf(socket)).text, "first");
  const route = await call(dev.port, `GET /sessions/${webrtc.sessionId}/version`);
  assert.deepEqual(
    [(route.json() as { text: string }).text, (route.json() as { sessionId: string }).sessionId],
    ["first", webrtc.sessionId],
  );
  using late = await callBot({ port: dev.port, path: `/sessions/${webrtc.sessionId}/api/offer` });
  assert.equal(late.state, "connected");

  // Candidates and further offers find the code that has the peer connection.
  const candidates = await call(dev.port, "PATCH /api/offer", {
    body: { pc_id: openPeer.pcId, candidates: [] },
  });
  assert.deepEqual(candidates.json(), { status: "success" });
  using again = createPeerClient();
  const restarted = await call(dev.port, "POST /api/offer", {
    body: { sdp: await again.offer(), type: "offer", pc_id: openPeer.pcId, restart_pc: true },
  });
  again.accept((restarted.json() as { sdp: string }).sdp);
  await again.connected();
  using fresh = await callBot({ port: dev.port });
  assert.equal(fresh.state, "connected");
  const unknown = await call(dev.port, "PATCH /api/offer", { body: { pc_id: "nobody", candidates: [] } });
  assert.equal(unknown.status, 404);
});

test("a token opens its socket on the code that issued it", async () => {
  await using dev = await startDev({ files, flags: ["--ws-auth", "token"] });
  const start = async () =>
    (await call(dev.port, "POST /start", { body: { transport: "websocket" } })).json() as { token: string };
  const [old] = [await start(), await start()];
  save(dev, "bot.ts", botThatSays("second"));
  await untilNewest(dev.port, "second");
  using first = await openSession(dev.port, `/${old.token}`);
  assert.equal((await versionOf(first)).text, "first");
  using second = await openSession(dev.port, `/${(await start()).token}`);
  assert.equal((await versionOf(second)).text, "second");
  await assert.rejects(openSession(dev.port), /refused with 403.*TOKEN/s);
});

test("a broken save changes nothing but what the terminal says", async () => {
  await using dev = await startDev({ files });
  using running = await openSession(dev.port);
  save(dev, "bot.ts", `${botThatSays("broken")}\nexport const answer = ;\n`);
  await dev.program.printed(/SyntaxError.*bot\.ts does not run.*last working version/s);
  assert.equal((await versionOf(running)).text, "first");
  using next = await openSession(dev.port);
  assert.equal((await versionOf(next)).text, "first");

  save(dev, "bot.ts", botThatSays("mended"));
  await untilNewest(dev.port, "mended");
  assert.equal((await versionOf(running)).text, "first");
});

test("code that is broken from the beginning is waited for", async () => {
  using folder = createBotFolder({ "bot.ts": "throw new Error('not yet');", "prompt.ts": PROMPT });
  await using program = spawnDev(folder, ["--port", "0", "--json"]);
  await program.printed(/"code-broken".*not yet/);
  writeFileSync(join(folder.path, "bot.ts"), "export const nothing = 1;");
  await program.printed(/"code-broken","exit":"ended with exit code 0"/);
  writeFileSync(join(folder.path, "bot.ts"), files["bot.ts"]);
  const [, url = ""] = await program.printed(/"event":"ready","url":"([^"]+)"/);
  assert.equal((await newestVersion(Number(new URL(url).port))).text, "first");
  const events = program.output().trim().split("\n");
  for (const line of events)
    assert.equal(typeof (JSON.parse(line) as { event: string }).event, "string", line);
});

test("Ctrl-C ends calls in order and leaves nothing running", async () => {
  await using dev = await startDev({ files });
  using old = await openSession(dev.port);
  const versions = [await versionOf(old)];
  save(dev, "bot.ts", botThatSays("second"));
  await untilNewest(dev.port, "second");
  using young = await openSession(dev.port);
  versions.push(await versionOf(young));
  const closed = [old.closed(), young.closed()];
  assert.equal(await within(dev.program.end("SIGINT"), SOON_MS, "end"), 130);
  assert.deepEqual(await Promise.all(closed), [
    { code: 1000, reason: "" },
    { code: 1000, reason: "" },
  ]);
  for (const { pid } of versions) assert.equal(isRunning(pid), false);
  assert.match(dev.program.output(), /Ending 2 live sessions.*Nothing is left running/s);
});

test("requests arrive as they were sent, and so do answers", async () => {
  const bot = botThatSays("first").replace(
    'app.get("/version"',
    'app.post("/mirror", async (request, reply) => { reply.header("x-seen", request.headers["x-mine"]); return request.body; });\napp.get("/version"',
  );
  await using dev = await startDev({ files: { ...files, "bot.ts": bot } });
  for (let round = 0; round < 200; round += 1) {
    const answer = await call(dev.port, "POST /mirror", {
      body: { text: "x".repeat(round * 100) },
      headers: { "x-mine": String(round) },
    });
    assert.equal(answer.status, 200);
    assert.equal((answer.json() as { text: string }).text.length, round * 100);
    assert.equal(answer.headers["x-seen"], String(round));
  }
  const chunked = await fetch(`http://localhost:${dev.port}/mirror`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: new Blob(['{"text":"in ', 'pieces"}']).stream(),
    duplex: "half",
  } as RequestInit);
  assert.deepEqual(await chunked.json(), { text: "in pieces" });
  const large = await call(dev.port, "POST /start", { body: { body: "x".repeat(2_000_000) } });
  assert.deepEqual([large.status, (large.json() as { code: string }).code], [413, "PAYLOAD_TOO_LARGE"]);
  const foreign = await call(dev.port, "GET /status", { headers: { host: "evil.example.com" } });
  assert.equal(foreign.status, 403);
  assert.equal((await call(dev.port, "GET /status", { address: "::1" })).status, 200);
});

test("a second Ctrl-C waits for no bot", async () => {
  const stubborn = botThatSays("first").replace(/for await .*/, "await new Promise(() => undefined);");
  await using dev = await startDev({ files: { ...files, "bot.ts": stubborn } });
  using client = await openSession(dev.port);
  const { pid } = await versionOf(client);
  dev.program.process.kill("SIGINT");
  await dev.program.printed(/Ending 1 live session/);
  assert.equal(await within(dev.program.end("SIGINT"), 4_000, "end"), 130); // bots have five seconds
  await until(() => !isRunning(pid), SOON_MS, "end of the bot's process");
});

test("nothing outlives the command, however it ends", async () => {
  await using dev = await startDev({ files });
  const { pid } = await newestVersion(dev.port);
  dev.program.process.kill("SIGKILL");
  await until(() => !isRunning(pid), SOON_MS, "end of the bot's process");
});

test("on a terminal: one address, live sessions, and keys", async () => {
  using folder = createBotFolder(files);
  await using program = spawnDevOnTerminal(folder, ["--port", "0"]);
  const [, address = ""] = await program.printed(/Talk to it\s+\S*?http:\/\/localhost:(\d+)/);
  await program.printed(/No live sessions.*r restart.*q quit/s);
  const port = Number(address);
  using client = await openSession(port);
  await program.printed(/1 live session.*websocket\s+00:0\d/s);
  const before = await versionOf(client);
  program.process.stdin?.write("r");
  await program.printed(/New code is running.*1 live session stays/);
  await program.printed(/websocket\s+00:\d\d\s+\S+\s+old code/);
  assert.notEqual((await newestVersion(port)).pid, before.pid);
  program.process.stdin?.write("q");
  const [exitCode] = (await within(once(program.process, "exit"), SOON_MS, "end")) as [number];
  assert.equal(exitCode, 0);
  assert.match(program.output(), /Nothing is left running/);
  assert.equal(isRunning(before.pid), false);
});

test("flags of the runner and, behind dashes, of the bot are passed on", async () => {
  const bot = botThatSays("first").replace(
    'app.get("/version"',
    'app.get("/flags", async () => process.argv.slice(2));\napp.get("/version"',
  );
  await using dev = await startDev({
    files: { "src/agent.ts": bot, "src/prompt.ts": PROMPT },
    flags: ["-t", "websocket", "src/agent.ts", "--no-open", "--", "--my-flag", "7"],
  });
  const status = (await call(dev.port, "GET /status")).json() as { transports: string[] };
  assert.deepEqual(status.transports, ["websocket"]);
  const flags = (await call(dev.port, "GET /flags")).json() as string[];
  assert.equal(flags[flags.indexOf("-t") + 1], "websocket");
  assert.deepEqual(flags.slice(-3), ["--", "--my-flag", "7"]);
});

test("what cannot start says why and what to do, and exits with 1", async () => {
  using folder = createBotFolder(files);
  using empty = createBotFolder({});
  await using taken = Object.assign(createServer().listen(0, "127.0.0.1"), {
    [Symbol.asyncDispose]: async () => void taken.close(),
  });
  await once(taken, "listening");
  const { port } = taken.address() as AddressInfo;
  const table: [folder: typeof folder, words: string[], exitCode: number, RegExp][] = [
    [folder, ["--port", String(port)], 1, new RegExp(`Port ${port}.*in use.*--port ${port + 1}`, "s")],
    [folder, ["--port", String(port), "--json"], 1, /^{"ok":false,"problem":{"code":"port_in_use"/],
    [folder, ["no-such-bot.ts"], 1, /no-such-bot\.ts does not exist.*vocalhost dev path/s],
    [empty, [], 1, /There is no bot here.*npm create vocalhost/s],
    [folder, ["--host", "192.0.2.1", "--port", "0"], 1, /192\.0\.2\.1 is not an address of this machine/],
    [folder, ["--port", "many"], 2, /A port is a whole number/],
  ];
  await Promise.all(
    table.map(async ([where, words, expected, text]) => {
      const program = spawnDev(where, words);
      const [exitCode] = (await within(once(program.process, "close"), SOON_MS, "end")) as [number];
      assert.match(program.output(), text);
      assert.equal(exitCode, expected, words.join(" "));
    }),
  );
});
