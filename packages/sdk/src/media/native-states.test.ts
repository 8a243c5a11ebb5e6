import { Audio, endNative, openConnection } from "@vocalhost/rooms/native";
import assert from "node:assert/strict";
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { after, test } from "node:test";
import { spoil } from "../../../../testing/junk-offer.ts";
import { createRandom } from "../../../../testing/random.ts";
import { size } from "../../../../testing/sizes.ts";
import { aFewAtATime, pause, within } from "../../../../testing/wait.ts";
import type { HostCommand, HostReply } from "../testing/media-host-process.ts";

after(() => endNative());

test("no order of offers, answers, candidates, restarts, junk and ends aborts the media thread", async () => {
  using stack = new DisposableStack();
  const host = fork(new URL("../testing/media-host-process.ts", import.meta.url));
  stack.defer(() => void host.kill("SIGKILL"));
  const exited = once(host, "exit") as Promise<[number | null, string | null]>;
  const talk = createTalk(host);
  const seeds = Array.from({ length: size(30, 10_000) }, (_, seed) => seed);
  await aFewAtATime(seeds, async (seed) => {
    assert.deepEqual(
      [host.exitCode, host.signalCode],
      [null, null],
      `before the interleaving of seed ${seed}`,
    );
    await Promise.race([interleave(seed, talk), exited]);
  });
  assert.deepEqual([host.exitCode, host.signalCode], [null, null]);
  const { answers, refusals, connected } = talk;
  assert.ok(
    answers > seeds.length / 2 && connected > seeds.length / 4,
    JSON.stringify({ answers, connected }),
  );
  assert.ok(refusals > seeds.length / 10, JSON.stringify({ refusals }));
  host.disconnect();
  assert.deepEqual(await within(exited, 10_000, "end of the process"), [0, null]);
});

interface Talk {
  answers: number;
  refusals: number;
  connected: number;
  tell(command: HostCommand): void;
  offer(connection: number, sdp: string, rebuild: boolean): Promise<string | undefined>;
}

function createTalk(host: ChildProcess): Talk {
  const waiting = new Map<number, (reply: HostReply) => void>();
  let requests = 0;
  const tell = (command: HostCommand): void => void host.send(command, () => undefined);
  const talk: Talk = {
    answers: 0,
    refusals: 0,
    connected: 0,
    tell,
    async offer(connection, sdp, rebuild) {
      const request = (requests += 1);
      const reply = new Promise<HostReply>((resolve) => waiting.set(request, resolve));
      tell({ type: "offer", connection, request, sdp, rebuild });
      const { answer } = await within(reply, 30_000, "reply to an offer");
      if (answer === undefined) talk.refusals += 1;
      else talk.answers += 1;
      return answer;
    },
  };
  host.on("message", (reply: HostReply) => {
    waiting.get(reply.request)?.(reply);
    waiting.delete(reply.request);
  });
  return talk;
}

/** A client's end that may be closed at any moment. */
function openClient() {
  const state = { isConnected: false };
  const connection = openConnection({
    role: "offers",
    config: { iceServers: [] },
    gatherMs: 2_000,
    changed: (news) => void (state.isConnected ||= news === "connected"),
    problem: () => undefined, // none of the test's callbacks throws
  });
  const voice = new Audio("0", "SendRecv");
  voice.addOpusCodec(111);
  voice.addSSRC(1, "client", "client", "voice");
  const track = connection.addTrack(voice);
  const channel = connection.createChannel("chat");
  return { connection, track, channel, state };
}

async function interleave(seed: number, talk: Talk): Promise<void> {
  const random = createRandom(seed);
  for (let warm = 0; warm < 3; warm += 1) random();
  const id = seed + 1;
  let client = openClient();
  let sdp = await client.connection.offer();
  const pending: Promise<unknown>[] = [];

  function send(text: string, { rebuild = false, isAnswered = true } = {}): void {
    const { connection } = client;
    const settled = talk.offer(id, text, rebuild).then((answer) => {
      if (answer !== undefined && isAnswered) ignoring(() => connection.accept(answer));
    });
    pending.push(settled);
  }

  const steps: (() => void | Promise<void>)[] = [
    () => send(sdp),
    () => send(sdp, { isAnswered: false }),
    () => send(spoil(sdp, random), { isAnswered: false }),
    () => send(sdp, { rebuild: true }),
    async () => {
      sdp = await client.connection.offer().catch(() => sdp);
    },
    () => client.connection.close(),
    () => {
      client.connection.close();
      client = openClient();
    },
    () => talk.tell({ type: "candidates", connection: id, candidates: candidatesIn(sdp) }),
    () => talk.tell({ type: "candidates", connection: id, candidates: candidatesIn(spoil(sdp, random)) }),
    () => talk.tell({ type: "attach", connection: id }),
    () => talk.tell({ type: "speak", connection: id }),
    () => talk.tell({ type: "send", connection: id, text: "{}" }),
    () => talk.tell({ type: "close", connection: id, sayGoodbye: random() < 0.5 }),
    () => void client.channel.send("ping"),
    () => pause(random() * 20),
    () => Promise.all(pending).then(() => undefined),
  ];
  if (random() < 0.8) {
    send(sdp);
    if (random() < 0.8) await Promise.all(pending);
    if (random() < 0.7)
      for (let waits = 0; waits < 100 && !client.state.isConnected; waits += 1) await pause(5);
    talk.connected += client.state.isConnected ? 1 : 0;
  }
  for (let count = 2 + Math.floor(random() * 8); count > 0; count -= 1)
    await steps[Math.floor(random() * steps.length)]?.();
  if (random() < 0.5) {
    client.connection.close();
    for (let late = 0; late < 3; late += 1) {
      send(sdp);
      await pause(random() * 4);
    }
  }
  await Promise.all(pending);
  talk.tell({ type: "close", connection: id, sayGoodbye: false });
  client.connection.close();
}

function candidatesIn(sdp: string): { candidate: string; sdp_mid: string; sdp_mline_index: number }[] {
  return [...sdp.matchAll(/^a=(candidate:.*)\r$/gm)].map(([, candidate = ""]) => ({
    candidate,
    sdp_mid: "0",
    sdp_mline_index: 0,
  }));
}

function ignoring(run: () => void): void {
  try {
    run();
  } catch {
    // the client has gone, or was answered already
  }
}
