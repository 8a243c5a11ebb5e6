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
        file: "sessions/start-session.ts",
        find: "await rememberKey(tx, wish, session.id, nowMs);",
        replace: "",
      },
    ],
  },
  {
    name: "scale-down without compare-and-set",
    edits: [{ file: "pools/instance-state.ts", find: '.where("version", "=", row.version)', replace: "" }],
  },
  {
    name: "no duration cap",
    edits: [
      { file: "ledger/length.ts", find: ", facts.maxDurationMs];", replace: "];" },
      {
        file: "reconciler/plan-session.ts",
        find: "told.elapsedMs >= session.maxDurationMs",
        replace: "false",
      },
    ],
  },
  {
    name: "closing twice with added counters",
    edits: [
      // One leader alone never closes twice; an old one that lingers would.
      { file: "leader/leader.ts", find: "if (row?.epoch !== epoch)", replace: "if (row === undefined)" },
      { file: "ledger/close-usage.ts", find: "if (await isEntered(tx, row)) return;", replace: "" },
      { file: "sessions/session-state.ts", find: '.where("version", "=", row.version)', replace: "" },
      {
        file: "ledger/close-usage.ts",
        find: '.values(row)\n      .onConflict((conflict) => conflict.columns(["sessionId", "period"]).doNothing())',
        replace:
          '.values(row).onConflict((conflict) => conflict.columns(["sessionId", "period"]).doUpdateSet((is) => ({ seconds: is("usage.seconds", "+", is.ref("excluded.seconds")) })))',
      },
    ],
  },
  {
    name: "creating before recording without a sweep",
    edits: [
      {
        file: "reconciler/take-step.ts",
        find: "const { newId, epoch } = world;",
        replace: "const { epoch } = world; const newId = (): string => early;",
      },
      {
        file: "reconciler/take-step.ts",
        find: "  const { agent } = view;\n",
        replace:
          "  const { agent } = view;\n  const early = world.newId();\n  await world.driver.create({ id: early } as never);\n",
      },
      { file: "reconciler/reconcile.ts", find: "await sweep(pools, seen);", replace: "" },
    ],
  },
  {
    name: "capacity not counted in the claim",
    edits: [{ file: "pools/claim.ts", find: "live.length >= places", replace: "false" }],
  },
];
