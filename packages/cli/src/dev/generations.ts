import type { Broken, Generation } from "./generation.ts";

/** All versions of the code that run. The newest takes new sessions; older ones finish theirs. */
export interface Generations extends AsyncDisposable {
  /** Takes new sessions; undefined until a version has started. */
  readonly newest: Generation | undefined;
  /** Versions that only finish their sessions, newest first. */
  readonly older: readonly Generation[];
  /** Starts the code as it is now, and stops a version that is still starting. */
  reload(): void;
  ofSession(id: string): Generation | undefined;
  ofPeer(id: string): Generation | undefined;
  /** Notes which version owns a session or peer, as its answers show. */
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
const CRASH_LOOP_MS = 5_000; // code that ends this soon after its start would do so again

export function createGenerations(options: GenerationsOptions): Generations {
  return new RunningCode(options);
}

class RunningCode implements Generations {
  readonly #options: GenerationsOptions;
  readonly #alive = new Set<Generation>();
  readonly #sessionOwners = new Map<string, Generation>();
  readonly #peerOwners = new Map<string, Generation>();
  #newest: Generation | undefined;
  #starting: Generation | undefined;
  #count = 0;
  #isOver = false;

  constructor(options: GenerationsOptions) {
    this.#options = options;
  }

  get newest(): Generation | undefined {
    return this.#newest;
  }

  get older(): Generation[] {
    return [...this.#alive].filter((each) => each.isReady && each !== this.#newest).reverse();
  }

  reload(): void {
    if (this.#isOver) return;
    this.#starting?.kill();
    this.#count += 1;
    this.#options.onEvent({ type: "starting", number: this.#count });
    const generation = this.#options.start(this.#count);
    this.#starting = generation;
    this.#alive.add(generation);
    void generation.ended.then(() => this.#forget(generation));
    void this.#follow(generation);
  }

  ofSession(id: string): Generation | undefined {
    return this.#sessionOwners.get(id) ?? [...this.#alive].find((generation) => owns(generation, id));
  }

  ofPeer(id: string): Generation | undefined {
    return this.#peerOwners.get(id);
  }

  remember(
    generation: Generation,
    { session, peer }: { session?: string | undefined; peer?: string | undefined },
  ): void {
    if (!this.#alive.has(generation)) return;
    if (session !== undefined) keep(this.#sessionOwners, session, generation);
    if (peer !== undefined) keep(this.#peerOwners, peer, generation);
  }

  killAll(): void {
    for (const generation of this.#alive) generation.kill();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    await Promise.all([...this.#alive].map((generation) => generation.end()));
  }

  async #follow(generation: Generation): Promise<void> {
    const { onEvent } = this.#options;
    const { number } = generation;
    const result = await generation.started;
    if (this.#starting !== generation) return; // given up for newer code
    this.#starting = undefined;
    if (!result.isUp) {
      if (!this.#isOver) onEvent({ type: "broken", ...result, isServing: this.#newest !== undefined });
      return;
    }
    this.#newest?.retire();
    this.#newest = generation;
    const startedMs = performance.now();
    const sessionsOnOldCode = this.older.flatMap(({ sessions }) => sessions).length;
    onEvent({ type: "ready", number, banner: result.banner, sessionsOnOldCode });
    await generation.ended;
    if (this.#newest !== generation) return;
    this.#newest = undefined;
    if (this.#isOver) return;
    const startsAgain = this.#starting === undefined && performance.now() - startedMs > CRASH_LOOP_MS;
    onEvent({ type: "lost", number, startsAgain });
    if (startsAgain) this.reload();
  }

  #forget(generation: Generation): void {
    this.#alive.delete(generation);
    for (const owners of [this.#sessionOwners, this.#peerOwners])
      for (const [id, owner] of owners) if (owner === generation) owners.delete(id);
  }
}

function owns(generation: Generation, id: string): boolean {
  return generation.sessions.some((session) => session.id === id);
}

function keep(owners: Map<string, Generation>, id: string, generation: Generation): void {
  owners.set(id, generation);
  const [oldest] = owners.keys();
  if (owners.size > OWNERS_MAX && oldest !== undefined) owners.delete(oldest);
}
