import { AliveRecord, encodeFrame, parseFrame, type ExitRecord } from "@vocalhost/protocol";
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { until } from "../../../../testing/wait.ts";
import { spawnInstance } from "../testing/instance-process.ts";

const FRAMES = 25;
const folder = mkdtempSync(join(tmpdir(), "voice-engine-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const filtering = (filter: string): string => `
import { createTransport } from "vocalhost";
import { vivaFilter } from "vocalhost/filters";
export async function bot(args) {
  const transport = await createTransport(args, { audioIn: { sampleRateHz: 16_000, filter: ${filter} } });
  for await (const frame of transport.audioIn) transport.audioOut.write(frame);
}
`;

/** Delays by 10 ms, as the real engine does. */
const ENGINE = `
export function openEngine({ model, sampleRateHz }) {
  if (model !== "tel" || sampleRateHz !== 16_000) throw new Error("asked for something else");
  const figures = { framesIn: 0, framesFiltered: 0, nearShare: 0.25, levelRemovedDb: 6.02, cpuMs: 3.14 };
  let held = new Int16Array(160);
  return {
    version: "1.2.3",
    figures,
    process(samples) {
      figures.framesIn += 1;
      figures.framesFiltered += 1;
      const all = Int16Array.from([...held, ...samples.map((sample) => sample / 2)]);
      held = all.slice(-160);
      return all.slice(0, -160);
    },
    flush: () => held,
    [Symbol.dispose]() {},
  };
}
`;

test("an engine that runs is heard, and the record says how much it did", async () => {
  const { exit, heard } = await call({ bot: filtering("vivaFilter()"), engine: ENGINE });
  const { figures, ...filter } = exit.filter ?? {};
  assert.deepEqual(filter, { asked: "tel", state: "ran", framesIn: FRAMES, framesFiltered: FRAMES });
  const seconds = FRAMES / 50;
  assert.deepEqual(figures, {
    ...{
      version: "1.2.3",
      seconds,
      nearShare: 0.25,
      levelRemovedDb: 6,
      cpuMs: 3.1,
      bypassedSeconds: 0,
      failures: 0,
    },
  });
  // Half the volume, and the edges of resampling.
  assert.ok(Math.max(...heard) < 700, `heard ${Math.max(...heard)}`);
});

test("whether the filter can run is on record as soon as its session is", async () => {
  await using instance = spawnInstance({
    bot: filtering("vivaFilter()"),
    variables: { heartbeatMs: "60000" },
  });
  const { status } = await instance.start(randomUUID(), { filter: "tel" });
  assert.equal(status, 200);
  const record = AliveRecord.parse(await until(() => instance.aliveRecord(), 20_000, "sign of life"));
  assert.ok(record.elapsedMs < 900, `it came after ${record.elapsedMs} ms`);
  assert.equal(record.filter?.state, "unavailable");
});

test("a call goes on untouched whatever is wrong with the filter, and the record says what", async () => {
  const none = { framesIn: 0, framesFiltered: 0 };
  const failing = ENGINE.replace("figures.framesFiltered += 1;", 'throw new Error("broken");');
  const cases: {
    what: string;
    bot?: string;
    engine?: string;
    expect: Omit<NonNullable<ExitRecord["filter"]>, "figures">;
    said?: RegExp;
  }[] = [
    {
      what: "no engine",
      expect: { asked: "tel", state: "unavailable", ...none },
      said: /engine is not available/,
    },
    {
      what: "an engine that cannot be loaded",
      engine: "throw new Error('no model')",
      expect: { asked: "tel", state: "unavailable", ...none },
      said: /engine cannot be loaded/,
    },
    {
      what: "an engine that cannot be opened",
      engine: "export function openEngine() { throw new Error('no memory') }",
      expect: { asked: "tel", state: "failed", ...none },
      said: /audio filter failed/,
    },
    {
      what: "an engine that fails at every frame",
      engine: failing,
      expect: { asked: "tel", state: "failed", framesIn: FRAMES, framesFiltered: 0 },
      said: /audio filter failed/,
    },
    {
      what: "a bot that does not use it",
      bot: filtering("undefined"),
      engine: ENGINE,
      expect: { asked: "tel", state: "not-attached", ...none },
    },
  ];
  for (const { what, bot = filtering("vivaFilter()"), engine, expect, said } of cases) {
    const { exit, heard, output } = await call({ bot, engine });
    const { figures, ...filter } = exit.filter ?? {};
    assert.deepEqual(filter, expect, what);
    assert.equal((figures?.failures ?? 0) > 0, expect.state === "failed", what);
    assert.ok(Math.max(...heard) > 900, `${what}: heard ${Math.max(...heard)}`);
    if (said) assert.match(output, said, what);
  }
});

test("a deployment without the filter has none, even if the bot brings it along", async () => {
  const { exit, output } = await call({ bot: filtering("vivaFilter()"), engine: ENGINE, filter: null });
  assert.equal(exit.filter, null);
  assert.match(output, /not enabled in this deployment/);
});

/** Sends half a second of a constant sound and returns the answer. */
async function call(options: { bot: string; engine?: string | undefined; filter?: "tel" | null }) {
  const { bot, engine, filter = "tel" } = options;
  const path = join(folder, `${randomUUID()}.mjs`);
  if (engine !== undefined) writeFileSync(path, engine);
  await using instance = spawnInstance({ bot, variables: engine === undefined ? {} : { vivaEngine: path } });
  const id = randomUUID();
  assert.equal((await instance.start(id, { filter })).status, 200);
  const socket = await instance.socket(`/ws-client/${id}`);
  const heard: number[] = [];
  socket.on("message", (data) => {
    const frame = parseFrame(data as Buffer);
    if (frame.kind === "audio") heard.push(...new Int16Array(Uint8Array.from(frame.audio).buffer));
  });
  const samples = new Int16Array(320).fill(1_000);
  for (let sent = 0; sent < FRAMES; sent += 1)
    socket.send(
      encodeFrame({
        kind: "audio",
        id: sent,
        name: "",
        audio: new Uint8Array(samples.buffer),
        sampleRateHz: 16_000,
        channels: 1,
      }),
    );
  await until(() => heard.filter((sample) => sample > 400).length > 2_400, 20_000, "echo");
  socket.close();
  await once(socket, "close");
  await instance.exited();
  return { exit: instance.exitRecord(id) as ExitRecord, heard, output: instance.output() };
}
