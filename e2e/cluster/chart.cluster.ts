// The chart on a real cluster: installed, called, upgraded and rolled back under a call, uninstalled.
import { parseWav } from "@vocalhost/audio";
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { postgresIsMissing, startTestPostgres } from "../../packages/store/src/testing/test-postgres.ts";
import { requireBaseImage } from "../../testing/base-image.ts";
import { makeServiceImage } from "../../testing/service-image.ts";
import { eventually, until } from "../../testing/wait.ts";
import { freePeerClients } from "../harness/peer-client.ts";
import { openSocket } from "../harness/socket-client.ts";
import { readTestCluster } from "./config.ts";
import { callOverSocket, callOverWebRtc, countingBot, goOn, hangUp, type PeerCall } from "./live-calls.ts";
import { helmIsMissing, installRelease, type Release } from "./release.ts";
import { speakSlowly } from "./speak-slowly.ts";
import { openTestCluster, type TestCluster } from "./test-cluster.ts";

const PARROT = new URL("../../examples/parrot/bot.ts", import.meta.url);
const SPEECH = new URL("../../packages/sdk/src/speech/fixtures/table-for-two.wav", import.meta.url);
const AGENT = "echo";
const OURS = "vocalhost.github.io/service=vocalhost";
const { registry, machine, authority } = readTestCluster();

describe("the chart", { skip: whatIsMissing() ?? false }, () => {
  const stack = new AsyncDisposableStack();
  let cluster: TestCluster;
  let release: Release;
  before(async () => {
    const folder = mkdtempSync(join(tmpdir(), "chart-"));
    stack.defer(() => rmSync(folder, { recursive: true, force: true }));
    const postgres = stack.use(await startTestPostgres({ address: machine ?? "" }));
    cluster = stack.use(await openTestCluster());
    const service = await makeServiceImage({ folder, authority });
    const name = `service-${cluster.namespace}`;
    for (const tag of ["1", "2"]) await cluster.pushImage(service, { name, tag });
    const image = await cluster.pushImage(service, { name, tag: "1" });
    release = await installRelease(cluster, { image, tag: "1", databaseUrl: postgres.url });
  });
  after(async () => {
    freePeerClients();
    await stack.disposeAsync();
  });

  async function ready(agent: string): Promise<void> {
    await until(
      async () => {
        const record = await release.api.agents.get(agent);
        if (record.errors?.length) throw new Error(JSON.stringify(record.errors));
        return record.ready && record.available;
      },
      90_000,
      `ready ${agent}`,
    );
  }

  async function ended(agent: string, sessionId: string): Promise<string | undefined> {
    return until(
      async () => {
        const { status, endReason } = await release.api.sessions.get(agent, sessionId);
        return status !== "active" && (endReason ?? status);
      },
      60_000,
      `end of session ${sessionId}`,
    );
  }

  test("installed, takes the parrot as an image, which hears somebody out and repeats it", async () => {
    const image = await cluster.push(readFileSync(PARROT, "utf8"), (await requireBaseImage()).image);
    await release.api.agents.create({
      serviceName: "parrot",
      image,
      autoScaling: { minAgents: 1, maxAgents: 2 },
    });
    await ready("parrot");
    const [door] = await release.doors();
    const started = await door!.publicApi.sessions.start("parrot", { transport: "websocket" });
    assert.ok("wsUrl" in started);
    const url = new URL(started.wsUrl);
    url.hostname = door!.address ?? "";
    using socket = await openSocket(url.href, { authorization: `Bearer ${started.token}` });
    const { samples, sampleRateHz } = parseWav(readFileSync(SPEECH));
    const stop = speakSlowly(socket, samples, sampleRateHz);
    await until(() => socket.heardMs > 1_000 && socket.peak > 1_000, 60_000, "what was said");
    stop();
    socket.socket.close();
    await release.api.agents.delete("parrot");
  });

  test("upgraded and rolled back under a call, which goes on; reads and starts are answered meanwhile", async (context) => {
    const image = await cluster.push(countingBot());
    await release.api.agents.create({
      serviceName: AGENT,
      image,
      autoScaling: { minAgents: 1, maxAgents: 4 },
    });
    await ready(AGENT);
    const [first] = await release.doors();
    using peer = await callOverWebRtc(first!, AGENT);
    await goOn([], [peer]);
    for (const [what, change] of [
      ["upgrade", () => release.upgrade("2")],
      ["rollback", () => release.rollback()],
    ] as const) {
      const old = await release.doors();
      const { rounds, refused } = await meanwhile(change, peer);
      context.diagnostic(
        `${what}: ${rounds} rounds of speech, ${refused.length} reads failed ${refused.join("; ")}`,
      );
      const now = await release.doors();
      assert.equal(now.length, 2);
      assert.ok(
        !now.some(({ address }) => old.some((each) => each.address === address)),
        "all were replaced",
      );
      using call = await callOverSocket(now[0]!, AGENT);
      await goOn([call], [peer]);
      await hangUp([call]);
      assert.equal(await ended(AGENT, call.sessionId), "bot-finished");
    }
    assert.equal((await release.api.sessions.get(AGENT, peer.sessionId)).status, "active");
    await hangUp([], [peer]);
    assert.equal(await ended(AGENT, peer.sessionId), "client-left");
  });

  /** Speaks and reads for as long as it takes. */
  async function meanwhile(
    change: () => Promise<void>,
    peer: PeerCall,
  ): Promise<{ rounds: number; refused: string[] }> {
    let isOver = false;
    const changed = change().finally(() => (isOver = true));
    changed.catch(() => undefined); // told below
    const refused: string[] = [];
    let rounds = 0;
    for (; !isOver; rounds++) {
      await goOn([], [peer]);
      await release.api.agents.get(AGENT).catch((error: unknown) => refused.push(String(error)));
    }
    await changed;
    return { rounds, refused };
  }

  test("uninstalled, leaves of the agents that were deleted nothing, and of itself what the page says", async () => {
    await release.api.agents.delete(AGENT);
    await until(
      async () => (await release.objects("vocalhost.github.io/instance")).length === 0,
      90_000,
      "end of the bots",
    );
    await release.uninstall();
    await eventually({
      what: "nothing of the release",
      look: () => release.objects("app.kubernetes.io/instance=vocalhost"),
      until: (left) => left.length === 0,
      quietMs: 60_000, // Helm does not wait for pods to end
    });
    assert.deepEqual(await release.objects(OURS), [
      "ConfigMap vocalhost-fence",
      "PodDisruptionBudget vocalhost-busy",
    ]);
  });
});

function whatIsMissing(): string | undefined {
  if (registry === undefined)
    return "VOCALHOST_TEST_REGISTRY names a registry that pods reach too, which a loopback one is not";
  if (machine === undefined)
    return "VOCALHOST_TEST_MACHINE says where pods reach the Postgres of this machine";
  return helmIsMissing() ?? postgresIsMissing();
}
