export const SLOT_MS = 40;
export const HISTORY_MS = 12_000;
const SLOTS = HISTORY_MS / SLOT_MS;
const SLEPT_SLOTS_MAX = 6;

/** Loudness of both voices over the last seconds, in slots of fixed length. */
export class VoiceHistory {
  readonly #user = new Float32Array(SLOTS);
  readonly #bot = new Float32Array(SLOTS);
  #slot = 0;

  /** Number of the newest slot; slot n covers the time from n × SLOT_MS. */
  get newestSlot(): number {
    return this.#slot;
  }

  /** Moves on to a time without sound, so that the past goes on passing. */
  advance(atMs: number): void {
    const slot = Math.floor(atMs / SLOT_MS);
    const from = Math.max(this.#slot + 1, slot - SLOTS + 1);
    for (let empty = from; empty <= slot; empty++) {
      this.#user[empty % SLOTS] = 0;
      this.#bot[empty % SLOTS] = 0;
    }
    this.#slot = Math.max(this.#slot, slot);
  }

  push(levels: { user: number; bot: number }, atMs: number): void {
    const before = this.#slot;
    this.advance(atMs);
    // A busy page is woken late; what it hears then also fills the moments it slept through.
    const missed = this.#slot - before <= SLEPT_SLOTS_MAX ? before + 1 : this.#slot;
    for (let slot = Math.min(missed, this.#slot); slot <= this.#slot; slot++) {
      const index = slot % SLOTS;
      this.#user[index] = Math.max(this.#user[index] ?? 0, levels.user);
      this.#bot[index] = Math.max(this.#bot[index] ?? 0, levels.bot);
    }
  }

  at(slot: number): { user: number; bot: number } {
    if (slot > this.#slot || slot <= this.#slot - SLOTS || slot < 0) return { user: 0, bot: 0 };
    return { user: this.#user[slot % SLOTS] ?? 0, bot: this.#bot[slot % SLOTS] ?? 0 };
  }
}
