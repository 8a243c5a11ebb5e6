import type { Broken, Generation, LiveSession } from "./generation.ts";

/** All code that runs: the newest takes new sessions, older ones keep theirs until they are over. */
export interface Generations extends AsyncDisposable {
  /** The one new sessions go to; undefined until some code has run. */
  readonly newest: Generation | undefined;
  /** Those that only finish their sessions, newest first. */
  readonly older: readonly Generation[];
  /** Starts the code as it is now. One that is still starting gives way. */
  reload(): void;
  ofSession(id: string): Generation | undefined;
  ofPeer(id: string): Generation | undefined;
  /** What an answer has revealed about who owns what. */
  remember(generation: Generation, owned: { session?: string | undefined; peer?: string | undefined }): void;
  killAll(): void;
}

export interface GenerationsOptions {
  start(number: number): Generation;
  onEvent(event: GenerationEvent): void;
}

export type GenerationEvent =
  | { type: "starting"; number: number }
  | { type: "ready"; number: number; banner: string; sessionsOnOldCode: number }
  | ({ type: "broken"; isServing: boolean } & Broken)
  | { type: "lost"; number: number; startsAgain: boolean };

const OWNERS_MAX = 10_000; // far more than are alive; the oldest are long over
const CRASH_LOOP_MS = 5_000; // code that dies this soon after its start would do so again

export function createGenerations({ start, onEvent }: GenerationsOptions): Generations {
  const alive = new Set<Generation>();
  const sessionOwners = new Map<string, Generation>();
  const peerOwners = new Map<string, Generation>();
  let newest: Generation | undefined;
  let starting: Generation | undefined;
  let count = 0;
  let isOver = false;

  function forget(generation: Generation): void {
    alive.delete(generation);
    for (const owners of [sessionOwners, peerOwners])
      for (const [id, owner] of owners) if (owner === generation) owners.delete(id);
  }

  async function follow(generation: Generation): Promise<void> {
    const result = await generation.started;
    if (starting !== generation) return; // given up for newer code
    starting = undefined;
    if (!result.isUp) {
      if (!isOver) onEvent({ type: "broken", ...result, isServing: newest !== undefined });
      return;
    }
    newest?.retire();
    newest = generation;
    const startedMs = performance.now();
    const sessionsOnOldCode = older().flatMap(({ sessions }) => sessions).length;
    onEvent({ type: "ready", number: generation.number, banner: result.banner, sessionsOnOldCode });
    await generation.ended;
    if (newest !== generation) return;
    newest = undefined;
    if (isOver) return;
    const startsAgain = starting === undefined && performance.now() - startedMs > CRASH_LOOP_MS;
    onEvent({ type: "lost", number: generation.number, startsAgain });
    if (startsAgain) reload();
  }

  function reload(): void {
    if (isOver) return;
    starting?.kill();
    count += 1;
    onEvent({ type: "starting", number: count });
    const generation = start(count);
    starting = generation;
    alive.add(generation);
    void generation.ended.then(() => forget(generation));
    void follow(generation);
  }

  function older(): Generation[] {
    return [...alive].filter((generation) => generation.isReady && generation !== newest).reverse();
  }

  function owns(generation: Generation, id: string): boolean {
    return generation.sessions.some((session: LiveSession) => session.id === id);
  }

  return {
    get newest() {
      return newest;
    },
    get older() {
      return older();
    },
    reload,
    ofSession: (id) => sessionOwners.get(id) ?? [...alive].find((generation) => owns(generation, id)),
    ofPeer: (id) => peerOwners.get(id),
    remember(generation, { session, peer }) {
      if (!alive.has(generation)) return;
      if (session !== undefined) keep(sessionOwners, session, generation);
      if (peer !== undefined) keep(peerOwners, peer, generation);
    },
    killAll() {
      for (const generation of alive) generation.kill();
    },
    async [Symbol.asyncDispose]() {
      isOver = true;
      await Promise.all([...alive].map((generation) => generation.end()));
    },
  };
}

function keep(owners: Map<string, Generation>, id: string, generation: Generation): void {
  owners.set(id, generation);
  const [oldest] = owners.keys();
  if (owners.size > OWNERS_MAX && oldest !== undefined) owners.delete(oldest);
}
