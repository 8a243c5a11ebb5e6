// The service's own engine, from the bot's code to the session's record.
import assert from "node:assert/strict";
import { test } from "node:test";
import { pause, until } from "../../testing/wait.ts";
import { startServiceProcess } from "../harness/service-process.ts";
import type { SocketClient } from "../harness/socket-client.ts";
import { ECHO_BOT, openCall } from "./hosted-calls.ts";

const SAMPLE_RATE_HZ = 16_000;
const FRAME_SAMPLES = SAMPLE_RATE_HZ / 50;
const NOISE_PEAK = 8_000;
const NOISE_FRAMES = 150;
const SETTLED_FRAMES = 100; // the engine needs a moment to know that nobody speaks

test("noise reaches a bot through the filter as near silence, and the record says so", async () => {
  await using service = await startServiceProcess({ environment: { VOCALHOST_VIVA_ENGINE: "" } });
  assert.deepEqual(await service.api.voiceFilter(), { engine: "available" });
  await service.deploy({ name: "plain", files: ECHO_BOT });
  await service.deploy({ name: "filtered", files: ECHO_BOT, vendorViva: { audioFilter: "tel" } });
  const plain = await openCall(service, "plain");
  assert.ok((await echoOfNoise(plain.socket)) > NOISE_PEAK / 2, "without the filter the noise comes back");
  const filtered = await openCall(service, "filtered", { body: { isFiltered: true } });
  assert.ok((await echoOfNoise(filtered.socket)) < NOISE_PEAK / 8, "with it hardly anything does");
  for (const { socket, sessionId } of [plain, filtered]) {
    socket.socket.close();
    await service.sessionEnded(sessionId);
  }
  assert.equal((await service.api.sessions.get("plain", plain.sessionId)).filter, null);
  const { filter } = await service.api.sessions.get("filtered", filtered.sessionId);
  assert.equal(filter?.state, "ran");
  assert.ok((filter?.framesFiltered ?? 0) > NOISE_FRAMES, JSON.stringify(filter));
});

/** Loudest sample that comes back once the filter has settled. */
async function echoOfNoise(client: SocketClient): Promise<number> {
  for (let frame = 0; frame < NOISE_FRAMES; frame++) {
    if (frame === SETTLED_FRAMES) client.restart();
    const noise = Int16Array.from({ length: FRAME_SAMPLES }, () => (Math.random() * 2 - 1) * NOISE_PEAK);
    client.sendAudio(noise, SAMPLE_RATE_HZ);
    await pause(20); // as a microphone sends it
  }
  await until(() => client.heardMs > 500, 10_000, "echo");
  return client.peak;
}
