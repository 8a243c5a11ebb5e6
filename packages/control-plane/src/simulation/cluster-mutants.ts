import type { Mutant } from "./mutants.ts";

export interface ClusterMutant extends Mutant {
  /** Agents, and instances of each, with which it shows. @default a small cluster */
  shownBy?: [agents: number, instancesEach: number];
}

/** Faults that only show with several controllers, or with many instances. */
export const clusterMutants: ClusterMutant[] = [
  {
    name: "an old leader that goes on writing",
    edits: [{ file: "store/src/leadership/leader.ts", find: '1).where("epoch", "=", epoch)', replace: "1)" }],
  },
  {
    name: "a lease that any controller may take",
    edits: [
      {
        file: "store/src/leadership/leader.ts",
        find: "return isOver || options.isDead(row.holder);",
        replace: "return true;",
      },
    ],
  },
  {
    name: "a lease that never ends",
    edits: [{ file: "store/src/leadership/leader.ts", find: "row.until <= nowMs ||", replace: "" }],
  },
  {
    name: "boots that keep their slots",
    edits: [
      {
        file: "control-plane/src/reconciler/boot-slots.ts",
        find: "if (!isLoading) this.#loading.delete(id);",
        replace: "if (!isLoading) continue;",
      },
    ],
  },
  {
    name: "a pool that is not refilled after a node is lost",
    edits: [
      {
        file: "control-plane/src/reconciler/plan-size.ts",
        find: "if (free.length < wanted) {",
        replace: "if (own.length === 0 && free.length < wanted) {",
      },
    ],
  },
  {
    name: "a start that does not ask whether a region is up",
    edits: [
      {
        file: "control-plane/src/sessions/choose-region.ts",
        find: "const isDown = ({ region }: Placed): boolean => down.has(region);",
        replace: "const isDown = ({ region }: Placed): boolean => region === undefined;",
      },
    ],
  },
  {
    name: "a session that leaves the region it was to stay in",
    edits: [
      {
        file: "control-plane/src/sessions/choose-region.ts",
        find: "!preference.stays || region === from",
        replace: "region !== from || true",
      },
    ],
  },
  {
    name: "one agent after the other, and one object forgotten at a time",
    shownBy: [500, 20],
    edits: [
      {
        file: "control-plane/src/reconciler/reconcile.ts",
        find: "AGENTS_AT_ONCE = 8;",
        replace: "AGENTS_AT_ONCE = 1;",
      },
      {
        file: "drivers/src/forget-instance.ts",
        find: "FORGOTTEN_AT_ONCE = 16;",
        replace: "FORGOTTEN_AT_ONCE = 1;",
      },
    ],
  },
];
