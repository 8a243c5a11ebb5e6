import assert from "node:assert/strict";
import { after, test } from "node:test";
import { spoil } from "../../../../testing/junk-offer.ts";
import { createRandom } from "../../../../testing/random.ts";
import { size } from "../../../../testing/sizes.ts";
import { aFewAtATime, pause, until } from "../../../../testing/wait.ts";
import { freePort } from "../../../../testing/free-port.ts";
import { pino } from "pino";
import { Audio, endNative, openConnection, Video, type NativeConnection } from "../native.ts";
import { startMediaHost } from "./media-host.ts";
import type { MediaCommand, MediaEvent } from "./messages.ts";

after(() => endNative());

test("no order of offers, answers, candidates, junk and ends aborts the media process", async () => {
  const talk = createTalk();
  let losses = 0;
  const udpPort = await freePort();
  await using host = await startMediaHost({
    settings: async () => ({
      udpPort,
      bindAddress: "127.0.0.1",
      allowPrivateCandidates: true,
      maxDataBytes: 65_536,
      levelIntervalMs: 400,
    }),
    log: pino({ level: "silent" }),
    receive: (event) => talk.hear(event),
    lost: () => void (losses += 1),
  });
  const seeds = Array.from({ length: size(60, 10_000) }, (_, seed) => seed);
  await aFewAtATime(seeds, async (seed) => {
    await interleave(seed, talk, (command) => host.send(command));
    assert.equal(losses, 0, `after the interleaving of seed ${seed}`);
  });
  const { answers, offers, refusals, connected } = talk;
  assert.ok(answers > seeds.length / 2 && offers > seeds.length / 2, JSON.stringify({ answers, offers }));
  assert.ok(refusals > 0 && connected > seeds.length / 4, JSON.stringify({ refusals, connected }));
  // It still answers, so it has not ended unnoticed.
  const last = openParticipant("last", talk, (command) => host.send(command));
  await last.offerTracks();
  await until(() => last.isConnected(), 10_000, "a connection at the end");
  last.close();
  assert.equal(losses, 0);
});

type Listener = (event: MediaEvent) => void;

interface Talk {
  answers: number;
  offers: number;
  refusals: number;
  connected: number;
  listeners: Map<string, Listener>;
  hear: Listener;
}

function createTalk(): Talk {
  const talk: Talk = {
    answers: 0,
    offers: 0,
    refusals: 0,
    connected: 0,
    listeners: new Map(),
    hear(event) {
      if (event.type === "publisher-answer") talk.answers += 1;
      if (event.type === "subscriber-offer") talk.offers += 1;
      if (event.type === "refused") talk.refusals += 1;
      if (event.type === "connection-state" && event.state === "connected") talk.connected += 1;
      if ("peer" in event) talk.listeners.get(event.peer)?.(event);
    },
  };
  return talk;
}

interface Participant {
  offerTracks(): Promise<void>;
  isConnected(): boolean;
  steps: (() => void | Promise<void>)[];
  closeOwnSide(): void;
  close(): void;
}

/** Both ends that a participant has. Its answers are true, late, spoilt or missing. */
function openParticipant(
  peer: string,
  talk: Talk,
  send: (command: MediaCommand) => void,
  random: () => number = () => 0,
): Participant {
  const publisher = openEnd("offers", (state) => (isConnected ||= state === "connected"));
  const subscriber = openEnd("answers");
  let isConnected = false;
  let sdp = "";
  let others: string[] = [];
  const tracks = [`${peer}-audio`, `${peer}-video`];
  addTracks(publisher);
  publisher.createChannel("_reliable");

  async function answer(event: Extract<MediaEvent, { type: "subscriber-offer" }>): Promise<void> {
    const text = await subscriber.answer(event.sdp);
    const told = random() < 0.15 ? spoil(text, random) : text;
    if (random() < 0.9) send({ type: "subscriber-answer", peer, offerId: event.offerId, sdp: told });
  }

  talk.listeners.set(peer, (event) => {
    if (event.type === "publisher-answer") accept(publisher, event.sdp);
    if (event.type === "subscriber-offer") answer(event).catch(() => undefined);
  });

  function say(text: string): void {
    const sections = tracks.map((track, at) => ({ mid: String(at), track, dtx: false, stereo: false }));
    send({ type: "publisher-offer", peer, offerId: 1, sdp: text, tracks: sections });
  }

  function closeOwnSide(): void {
    publisher.close();
    subscriber.close();
  }

  async function offerTracks(): Promise<void> {
    sdp = await publisher.offer().catch(() => sdp);
    say(sdp);
  }

  send({ type: "open", peer });
  return {
    offerTracks,
    isConnected: () => isConnected,
    closeOwnSide,
    steps: [
      offerTracks,
      () => say(sdp),
      () => say(spoil(sdp, random)),
      () => publisher.close(),
      () => subscriber.close(),
      closeOwnSide,
      () => {
        const sid = `${String(Number(peer) - 1 - Math.floor(random() * 4))}-${random() < 0.5 ? "audio" : "video"}`;
        others = [...others, sid];
        send({ type: "subscribe", peer, track: sid, streamId: "stream" });
      },
      () => send({ type: "unsubscribe", peer, track: others[0] ?? "" }),
      () => send({ type: "unpublish", track: tracks[0] ?? "" }),
      () => send({ type: "resume", peer }),
      () => send({ type: "subscriber-answer", peer, offerId: 0, sdp }),
      () => send({ type: "send-data", peers: [peer], kind: "reliable", bytes: new Uint8Array(100) }),
      () => {
        for (const [, candidate = ""] of sdp.matchAll(/^a=(candidate:.*)\r$/gm))
          for (const side of ["publisher", "subscriber"] as const)
            send({ type: "candidate", peer, side, candidate, mid: "0" });
      },
      () => send({ type: "close", peer }),
      () => send({ type: "open", peer }),
      () => pause(random() * 20),
    ],
    close() {
      talk.listeners.delete(peer);
      send({ type: "close", peer });
      closeOwnSide();
    },
  };
}

async function interleave(seed: number, talk: Talk, send: (command: MediaCommand) => void): Promise<void> {
  const random = createRandom(seed * 2_654_435_761);
  const participant = openParticipant(String(seed), talk, send, random);
  if (random() < 0.9) {
    await participant.offerTracks();
    for (let waits = 0; waits < 100 && random() < 0.98 && !participant.isConnected(); waits += 1)
      await pause(5);
    await pause(random() * 30);
  }
  for (let count = 2 + Math.floor(random() * 10); count > 0; count -= 1)
    await participant.steps[Math.floor(random() * participant.steps.length)]?.();
  if (random() < 0.5) {
    participant.closeOwnSide();
    for (let late = 0; late < 4; late += 1) {
      await participant.offerTracks();
      await pause(random() * 4);
    }
  }
  participant.close();
}

function openEnd(
  role: "offers" | "answers",
  changed: (state: string) => void = () => undefined,
): NativeConnection {
  return openConnection({
    role,
    config: { iceServers: [], bindAddress: "127.0.0.1", forceMediaTransport: true },
    gatherMs: 2_000,
    changed,
    problem: () => undefined, // no callback of ours throws
  });
}

function addTracks(connection: NativeConnection): void {
  const audio = new Audio("0", "SendOnly");
  audio.addOpusCodec(111);
  audio.addSSRC(1, "end", "end", "audio");
  connection.addTrack(audio);
  const video = new Video("1", "SendOnly");
  video.addVP8Codec(96);
  video.addSSRC(2, "end", "end", "video");
  connection.addTrack(video);
}

function accept(connection: NativeConnection, answer: string): void {
  try {
    connection.accept(answer);
  } catch {
    // the participant has gone, or was answered already
  }
}
