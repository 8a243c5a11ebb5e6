import assert from "node:assert/strict";
import { after, test } from "node:test";
import { until } from "../../../testing/wait.ts";
import { writeKeyFrameRequest } from "./media/rtcp.ts";
import { Audio, endNative, openConnection, Video, type NativeConnection } from "./native.ts";

after(() => endNative());

const SOURCES = { "1": 1_111, "2": 2_222 };

test("what a receiver says of one of several tracks reaches that one", async () => {
  const sender = open("offers");
  const receiver = open("answers");
  const video = new Video("2", "SendOnly");
  video.addVideoCodec(96, "VP8");
  const audio = new Audio("1", "SendOnly");
  audio.addOpusCodec(111);
  const heard: string[] = [];
  for (const media of [audio, video]) {
    media.addSSRC(SOURCES[media.mid() as keyof typeof SOURCES], "stream", "stream", "track");
    sender.addTrack(media).onMessage(() => heard.push(media.mid()));
  }
  const back = new Video("2", "RecvOnly");
  back.addVideoCodec(96, "VP8");
  const feedback = receiver.addTrack(back);
  sender.accept(await receiver.answer(await sender.offer()));
  const request = writeKeyFrameRequest({ senderSsrc: 1, mediaSsrc: SOURCES["2"] });
  await until(() => feedback.send(request) && heard.length > 0, 10_000, "request at the sender");
  assert.deepEqual([...new Set(heard)], ["2"]);
  for (const connection of [sender, receiver]) connection.close();
});

function open(role: "offers" | "answers"): NativeConnection {
  return openConnection({
    role,
    config: { iceServers: [], forceMediaTransport: true, bindAddress: "127.0.0.1" },
    gatherMs: 2_000,
    changed: () => undefined,
    problem: (error) => assert.fail(String(error)),
  });
}
