import { Gauge, type Registry } from "prom-client";
import type { Store } from "@vocalhost/store/store";

/** Adds metrics that are counted in the store when they are read. */
export function addStoreMetrics(registry: Registry, store: Store): void {
  for (const table of ["sessions", "instances"] as const)
    registry.registerMetric(
      new Gauge({
        name: `vocalhost_${table}`,
        help: `${table === "sessions" ? "Sessions" : "Instances"} that are not over, by state`,
        labelNames: ["state"],
        registers: [],
        async collect() {
          this.reset();
          for (const { state, count } of await countByState(store, table)) this.set({ state }, count);
        },
      }),
    );
  registry.registerMetric(
    new Gauge({
      name: "vocalhost_usage_exports",
      help: "Usage entries that were not exported: waiting to be sent, refused and to be tried again, or held for a person after 23 hours",
      labelNames: ["state"],
      registers: [],
      async collect() {
        for (const [state, count] of Object.entries(await countExports(store))) this.set({ state }, count);
      },
    }),
  );
  registry.registerMetric(
    new Gauge({
      name: "vocalhost_disk_full",
      help: "1 while the disk is full and starts and deployments are refused",
      registers: [],
      collect() {
        this.set(store.isDiskFull() ? 1 : 0);
      },
    }),
  );
}

async function countByState(store: Store, table: "sessions" | "instances") {
  const over = table === "sessions" ? ["ended", "failed", "expired"] : ["stopped", "lost"];
  return store.search
    .selectFrom(table)
    .select("state")
    .select((select) => select.fn.countAll<number>().as("count"))
    .where("state", "not in", over as never[])
    .groupBy("state")
    .execute();
}

async function countExports(store: Store): Promise<Record<"waiting" | "refused" | "held", number>> {
  const { all, refused, held } = await store.search
    .selectFrom("outbox")
    .select(({ fn }) => [fn.countAll<number>().as("all"), fn.count<number>("heldAt").as("held")])
    .select(({ fn, eb }) =>
      fn
        .countAll<number>()
        .filterWhere(eb.and([eb("heldAt", "is", null), eb("refusals", ">", 0)]))
        .as("refused"),
    )
    .where("sentAt", "is", null)
    .executeTakeFirstOrThrow();
  return { waiting: all - refused - held, refused, held };
}
