/** Whether this controller leads. A standby answers reads and reports that it does not lead. */
export interface LeaderState {
  /** 0 until it leads: the store accepts no write of epoch 0. */
  readonly epoch: number;
  /** True once it leads and has adopted the existing instances and sessions. */
  readonly isLeading: boolean;
  /** Called when it may write. */
  took(epoch: number): void;
  /** Called when it serves every request. */
  leads(): void;
  /** Calls the listener immediately and on every change; returns a function that unsubscribes. */
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
