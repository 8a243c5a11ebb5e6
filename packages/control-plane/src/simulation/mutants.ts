/** Faults put into the code on purpose; a simulation that does not notice one of them proves nothing. */
export interface Mutant {
  name: string;
  edits: { file: string; find: string; replace: string }[];
}

export const mutants: Mutant[] = [
  {
    name: "no idempotency key",
    edits: [
      {
        file: "control-plane/src/sessions/bind-session.ts",
        find: "await rememberKey(tx, request, { id: session.id, nowMs });",
        replace: "",
      },
    ],
  },
  {
    name: "moves without compare-and-set",
    edits: [{ file: "store/src/move-row.ts", find: '.where("version", "=", version)', replace: "" }],
  },
  {
    name: "no duration cap",
    edits: [
      { file: "control-plane/src/usage/ledger/length.ts", find: ", facts.maxDurationMs];", replace: "];" },
      {
        file: "control-plane/src/reconciler/plan-session.ts",
        find: "told.elapsedMs >= session.maxDurationMs",
        replace: "false",
      },
    ],
  },
  {
    name: "billing a filter that failed",
    edits: [
      { file: "control-plane/src/usage/ledger/usage.ts", find: ' && filterState !== "failed"', replace: "" },
    ],
  },
  {
    name: "closing twice with added counters",
    edits: [
      // One leader alone never closes twice; an old one that lingers would.
      { file: "store/src/leadership/leader.ts", find: '1).where("epoch", "=", epoch)', replace: "1)" },
      {
        file: "control-plane/src/usage/ledger/close-usage.ts",
        find: "if (await isEntered(tx, row)) return;",
        replace: "",
      },
      { file: "store/src/move-row.ts", find: '.where("version", "=", version)', replace: "" },
      {
        file: "control-plane/src/usage/ledger/close-usage.ts",
        find: '.values({ ...row, startedAt })\n      .onConflict((conflict) => conflict.columns(["sessionId", "period"]).doNothing())',
        replace:
          '.values({ ...row, startedAt }).onConflict((conflict) => conflict.columns(["sessionId", "period"]).doUpdateSet((is) => ({ seconds: is("usage.seconds", "+", is.ref("excluded.seconds")) })))',
      },
    ],
  },
  {
    name: "creating before recording without a sweep",
    edits: [
      {
        file: "control-plane/src/reconciler/instance-steps.ts",
        find: "export function requestedInstance(",
        replace: "export async function requestedInstance(",
      },
      {
        file: "control-plane/src/reconciler/instance-steps.ts",
        find: "const { store, newId, epoch } = world;",
        replace:
          "const { store, epoch } = world; const early = world.newId(); const newId = (): string => early; await world.driver.create({ id: early } as never);",
      },
      {
        file: "control-plane/src/reconciler/reconcile.ts",
        find: "await this.#sweep(live, listed);",
        replace: "",
      },
    ],
  },
  {
    name: "capacity not counted in the claim",
    edits: [
      {
        file: "control-plane/src/pools/claim.ts",
        find: "live.length >= agent.maxAgents - keptFree",
        replace: "false",
      },
    ],
  },
  {
    name: "an organisation's instances not counted",
    edits: [
      {
        file: "control-plane/src/identity/quotas/require-quota.ts",
        find: "(await countInstances(taking.tx, organizationId)) < places",
        replace: "places > 0",
      },
    ],
  },
  {
    name: "a lowered maximum that warm starts overshoot",
    edits: [
      {
        file: "control-plane/src/pools/claim.ts",
        find: "live.filter(isTaken).length >= agent.maxAgents",
        replace: "false",
      },
    ],
  },
  {
    name: "believing a bot that tells less",
    edits: [
      {
        file: "control-plane/src/usage/ledger/length.ts",
        find: "Math.max(toldMs, leastMs)",
        replace: "toldMs",
      },
    ],
  },
  {
    name: "believing a bot that tells more",
    edits: [
      {
        file: "control-plane/src/usage/ledger/length.ts",
        find: ", observed.atMostMs ?? Infinity",
        replace: "",
      },
    ],
  },
  {
    name: "pending sessions without a cap",
    edits: [
      {
        file: "control-plane/src/sessions/pending-sessions.ts",
        find: "counts.ofAgent >= limits.perAgent",
        replace: "counts.ofAgent >= Infinity",
      },
    ],
  },
  {
    name: "pending sessions that never expire",
    edits: [
      {
        file: "control-plane/src/reconciler/plan-session.ts",
        find: "pending.oldestAt < createdBefore",
        replace: "false",
      },
    ],
  },
];
