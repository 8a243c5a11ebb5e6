import { isAppError, logOperations } from "@vocalhost/protocol";
import { Readable } from "node:stream";
import { findAgents } from "../agents/find-agent.ts";
import type { OrganizationId } from "../identity/principal.ts";
import { readLogs, tailLogs, type Tail, type TailQuery } from "../logs/read-logs.ts";
import { admitRequest } from "./admit-request.ts";
import { handle, type Handled } from "./operation.ts";
import type { ApiPorts } from "./ports.ts";
import { createPlaces } from "./stream-places.ts";
import { whileTaken } from "./while-taken.ts";

const TAILS_MAX = 200; // each queries the store twice a second
const PAGES_MAX = 16; // each may hold some megabytes
const TAIL_LOOK_MS = 500;
const TAIL_SIGN_OF_LIFE_MS = 15_000;
const TAIL_LINES = 500;

export function handleLogs(ports: ApiPorts): Handled[] {
  const { store } = ports;
  const tails = createPlaces({ max: TAILS_MAX, refusal: "Too many logs are being watched" });
  const pages = createPlaces({ max: PAGES_MAX, refusal: "Too many logs are being searched" });
  return handle(logOperations, {
    logs: {
      invalidText: (problems) =>
        problems.every(({ loc }) => /^(start|end)Time$/.test(String(loc[1])))
          ? "Invalid timestamp format"
          : "Invalid parameters",
    },
  })({
    logs: async ({ organizationId, params, query }) => {
      const { region, ...wanted } = query;
      const agentIds = await agentIdsOf(store, organizationId, { name: params.serviceName, region });
      using _place = pages.take(organizationId);
      return await readLogs(store, organizationId, agentIds, wanted);
    },
    tailLogs: async ({ organizationId, params, query, request, reply }) => {
      const { region, ...wanted } = query;
      const agentIds = await agentIdsOf(store, organizationId, { name: params.serviceName, region });
      const signal = tails.takeFor(organizationId, reply.raw);
      const after = request.headers["last-event-id"];
      const followed = {
        ...wanted,
        ...(typeof after === "string" && after !== "" ? { afterCursor: after } : {}),
      };
      const first = await tailLogs(store, organizationId, agentIds, { ...followed, limit: TAIL_LINES });
      reply.header("content-type", "text/event-stream; charset=utf-8");
      const stillAllowed = () => admitRequest(request, { admit: ports.admit, right: "view" });
      const watched = { organizationId, agentIds, query: followed, stillAllowed };
      const lines = events(ports, { ...watched, first, signal });
      return Readable.from(whileTaken(lines, { clock: ports.clock, answer: reply.raw }));
    },
  });
}

/** Returns the agents of every region, or of the one that is named. */
async function agentIdsOf(
  { db }: ApiPorts["store"],
  organizationId: OrganizationId,
  address: { name: string; region: string | undefined },
): Promise<string[]> {
  return (await findAgents(db, organizationId, address)).map(({ id }) => id);
}

interface Watched {
  organizationId: OrganizationId;
  agentIds: string[];
  query: TailQuery;
  first: Tail;
  /** Rejects when the right is gone: a revoked key must not go on reading. */
  stillAllowed(): Promise<unknown>;
  signal: AbortSignal;
}

async function* events({ store, clock, log }: ApiPorts, watched: Watched): AsyncGenerator<string> {
  const { organizationId, agentIds, query, signal } = watched;
  let tail = watched.first;
  let spokenAtMs = clock.monotonicMs();
  yield ": the log follows\n\n";
  try {
    while (!signal.aborted) {
      const told = tail.lines.map(
        ({ cursor, ...line }) => `id: ${cursor}\ndata: ${JSON.stringify(line)}\n\n`,
      );
      if (told.length > 0) yield told.join("");
      const nowMs = clock.monotonicMs();
      if (tail.lines.length > 0) spokenAtMs = nowMs;
      else if (nowMs - spokenAtMs > TAIL_SIGN_OF_LIFE_MS) {
        yield ": still here\n\n";
        spokenAtMs = nowMs;
      }
      if (tail.lines.length < TAIL_LINES) await clock.sleep(TAIL_LOOK_MS, signal);
      if (signal.aborted) return;
      await watched.stillAllowed();
      tail = await tailLogs(store, organizationId, agentIds, {
        ...query,
        afterCursor: tail.cursor,
        limit: TAIL_LINES,
      });
    }
  } catch (error) {
    if (!isAppError(error) || error.status >= 500) log.warn({ err: error, agentIds }, "live log broke off");
  }
}
