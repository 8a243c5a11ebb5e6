import { ChangeKind, eventOperations, type ChangeEvent } from "@vocalhost/protocol";
import { Readable } from "node:stream";
import type { OrganizationId } from "../identity/principal.ts";
import { admitRequest } from "./admit-request.ts";
import { handle, type Handled } from "./operation.ts";
import type { ApiPorts } from "./ports.ts";
import { readFingerprints, type Fingerprints } from "./read-fingerprints.ts";
import { createPlaces } from "./stream-places.ts";

const STREAMS_MAX = 500;
const LOOK_MS = 1_000; // changes within it are one event
const SIGN_OF_LIFE_MS = 15_000;

export function handleEvents(ports: ApiPorts): Handled[] {
  const look = createSharedLook(ports);
  const streams = createPlaces({ max: STREAMS_MAX, refusal: "Too many pages are following events" });
  return handle(eventOperations)({
    events: async ({ organizationId, request, reply }) => {
      const signal = streams.takeFor(organizationId, reply.raw);
      const first = await look(organizationId);
      reply.header("content-type", "text/event-stream; charset=utf-8");
      const stillAllowed = () => admitRequest(request, { admit: ports.admit, right: "view" });
      return Readable.from(follow(ports, { organizationId, first, look, stillAllowed, signal }));
    },
  });
}

type Look = (organizationId: OrganizationId) => Promise<Fingerprints>;

interface Followed {
  organizationId: OrganizationId;
  first: Fingerprints;
  look: Look;
  /** Rejects when the credential is no longer valid. */
  stillAllowed(): Promise<unknown>;
  signal: AbortSignal;
}

async function* follow({ clock, log }: ApiPorts, followed: Followed): AsyncGenerator<string> {
  const { organizationId, look, signal } = followed;
  let before = followed.first;
  let number = 0;
  let spokenAtMs = clock.monotonicMs();
  yield toEvent((number += 1), { changed: [] });
  try {
    for (;;) {
      await clock.sleep(LOOK_MS, signal);
      if (signal.aborted) return;
      const nowMs = clock.monotonicMs();
      const after = await look(organizationId);
      const changed = ChangeKind.options.filter((kind) => before[kind] !== after[kind]);
      before = after;
      if (changed.length === 0 && nowMs - spokenAtMs < SIGN_OF_LIFE_MS) continue;
      await followed.stillAllowed(); // ends the stream of a person who was signed out or removed
      spokenAtMs = nowMs;
      yield toEvent((number += 1), { changed });
    }
  } catch (error) {
    log.info({ err: error, organizationId }, "event stream ended");
  }
}

function toEvent(id: number, event: ChangeEvent): string {
  return `id: ${id}\ndata: ${JSON.stringify(event)}\n\n`;
}

/** All open pages of an organisation share one query. */
function createSharedLook({ store, clock }: ApiPorts): Look {
  const looks = new Map<OrganizationId, { atMs: number; seen: Promise<Fingerprints> }>();
  return (organizationId) => {
    const nowMs = clock.monotonicMs();
    for (const [id, { atMs }] of looks) if (nowMs - atMs >= LOOK_MS / 2) looks.delete(id);
    const recent = looks.get(organizationId);
    if (recent) return recent.seen;
    const seen = readFingerprints(store, organizationId);
    looks.set(organizationId, { atMs: nowMs, seen });
    return seen;
  };
}
