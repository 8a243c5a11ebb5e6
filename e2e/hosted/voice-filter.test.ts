// The service's own engine, from the bot's code to the session's record.
import assert from "node:assert/strict";
import { test } from "node:test";
import { echoOfNoise, NOISE_FRAMES, NOISE_LEVEL } from "../harness/noise.ts";
import { startServiceProcess } from "../harness/service-process.ts";
import { ECHO_BOT, openCall } from "./hosted-calls.ts";

test("noise reaches a bot through the filter as near silence, and the record says so", async () => {
  await using service = await startServiceProcess({ environment: { VOCALHOST_VIVA_ENGINE: "" } });
  assert.deepEqual(await service.api.voiceFilter(), { engine: "available" });
  await service.deploy({ name: "plain", files: ECHO_BOT });
  await service.deploy({ name: "filtered", files: ECHO_BOT, vendorViva: { audioFilter: "tel" } });
  const plain = await openCall(service, "plain");
  assert.ok((await echoOfNoise(plain.socket)) > NOISE_LEVEL / 2, "without the filter the noise comes back");
  const filtered = await openCall(service, "filtered", { body: { isFiltered: true } });
  const left = await echoOfNoise(filtered.socket);
  assert.ok(left < NOISE_LEVEL / 20, `with it hardly anything does: ${left}`);
  for (const { socket, sessionId } of [plain, filtered]) {
    socket.socket.close();
    await service.sessionEnded(sessionId);
  }
  assert.equal((await service.api.sessions.get("plain", plain.sessionId)).filter, null);
  const { filter } = await service.api.sessions.get("filtered", filtered.sessionId);
  assert.deepEqual([filter?.model, filter?.state, filter?.billed, filter?.failures], ["tel", "ran", true, 0]);
  assert.match(filter?.version ?? "", /^\d+\.\d+\.\d+$/);
  assert.ok((filter?.framesFiltered ?? 0) > NOISE_FRAMES, JSON.stringify(filter));
  assert.ok((filter?.levelRemovedDb ?? 0) > 10 && (filter?.nearShare ?? 1) < 0.2, JSON.stringify(filter));
  // Some kernels tell a thread's time in ticks, of which a short call may see none.
  assert.ok((filter?.cpuMs ?? -1) >= 0 && (filter?.seconds ?? 0) > 2, JSON.stringify(filter));
  const headers = { authorization: `Bearer ${service.privateKey}` };
  const figures = await (await fetch(new URL("/metrics", service.apiUrl), { headers })).text();
  assert.match(figures, /vocalhost_filter_sessions_total\{model="tel",state="ran"\} 1/);
  assert.match(figures, /vocalhost_filter_level_removed_db_count\{model="tel"\} 1/);
});
