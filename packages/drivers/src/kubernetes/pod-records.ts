import { InstanceStatus, type AliveRecord, type ExitRecord } from "@vocalhost/protocol";
import { request } from "node:http";
import { readdir } from "node:fs/promises";
import type { InstanceRecords } from "../instance-records.ts";
import { isId, requireId } from "../local/instance-folder.ts";
import type { PodOutput } from "./pod-output.ts";
import type { PodState } from "./pod-state.ts";

export interface PodRecordsOptions {
  root: string;
  output: PodOutput;
  stateOf(id: string): Promise<PodState | undefined>;
  /** Returns the address of a running instance, if it is known. */
  addressOf(id: string): string | undefined;
  tokenOf(id: string): Promise<string | undefined>;
}

const ANSWER_MS = 2_000;
const ANSWER_MAX_BYTES = 1024 * 1024;

/** Reads records from running instances, and of ended ones from the termination message that the pod has kept. */
export function openPodRecords(options: PodRecordsOptions): InstanceRecords {
  const { output, stateOf } = options;

  async function sessionOf(id: string): Promise<InstanceStatus["session"] | undefined> {
    const address = options.addressOf(id);
    const token = address === undefined ? undefined : await options.tokenOf(id).catch(() => undefined);
    if (address === undefined || token === undefined) return undefined;
    return (await askStatus(address, token).catch(() => undefined))?.session;
  }

  return {
    async exitRecord(id, sessionId) {
      const state = await stateOf(requireId(id));
      const kept = state?.state === "exited" ? state.terminationMessage.exit : undefined;
      const record: ExitRecord | null | undefined =
        kept ?? (state?.state === "running" ? (await sessionOf(id))?.exit : undefined);
      return record?.sessionId === sessionId ? record : undefined;
    },
    async aliveRecord(id): Promise<AliveRecord | undefined> {
      const state = await stateOf(requireId(id));
      if (state?.state !== "running") return state?.terminationMessage.alive;
      const session = await sessionOf(id);
      if (!session || session.state === "ended") return undefined;
      return { sessionId: session.sessionId, elapsedMs: session.elapsedMs, atMs: Date.now() };
    },
    output: (id, position) => output.read(requireId(id), position),
    async makeSpace() {
      return output.makeSpace((await readdir(options.root).catch(() => [])).filter(isId));
    },
    remove: (id) => output.remove(requireId(id)),
    keepOnly: (ids) => output.keepOnly(ids),
  };
}

async function askStatus(address: string, token: string): Promise<InstanceStatus> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const asked = request(
    `http://${address}/instance`,
    { headers: { authorization: `Bearer ${token}` }, agent: false, signal: AbortSignal.timeout(ANSWER_MS) },
    (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        text += chunk;
        if (text.length > ANSWER_MAX_BYTES) response.destroy(new Error("the answer is too long"));
      });
      response.on("error", reject);
      response.on("end", () => resolve(text));
    },
  );
  asked.on("error", reject);
  asked.end();
  return InstanceStatus.parse(JSON.parse(await promise));
}
