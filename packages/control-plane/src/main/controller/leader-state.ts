/** Whether this controller leads. One that does not answers reads, and says so of itself. */
export interface LeaderState {
  /** 0 until it leads: no write of such an epoch is taken. */
  readonly epoch: number;
  /** It leads and has taken over what there was. */
  readonly isLeading: boolean;
  /** From now on it may write. */
  took(epoch: number): void;
  /** From now on it serves everything. */
  leads(): void;
  /** Calls the listener at once and on every change; gives what ends that. */
  watch(listener: (leaderState: Pick<LeaderState, "epoch" | "isLeading">) => void): () => void;
}

export function createLeaderState(): LeaderState {
  const listeners = new Set<() => void>();
  let epoch = 0;
  let isLeading = false;
  return {
    get epoch() {
      return epoch;
    },
    get isLeading() {
      return isLeading;
    },
    took: (taken) => void (epoch = taken),
    leads() {
      isLeading = true;
      for (const listener of listeners) listener();
    },
    watch(listener) {
      const told = (): void => listener({ epoch, isLeading });
      listeners.add(told);
      told();
      return () => void listeners.delete(told);
    },
  };
}
