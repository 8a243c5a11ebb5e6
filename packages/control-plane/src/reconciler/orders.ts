import type { World } from "../sessions/world.ts";
import type { Order } from "./take-step.ts";

/**
 * Gives orders to the driver and to instances, each once at a time and beside the loop: one that is slow to obey must not
 * hold up other agents.
 */
export class Orders {
  readonly #world: World;
  readonly #nudge: () => void;
  readonly #underWay = new Set<string>();

  constructor({ world, nudge }: { world: World; nudge(): void }) {
    this.#world = world;
    this.#nudge = nudge;
  }

  give(order: Order): void {
    switch (order.do) {
      case "destroy":
        return this.destroy(order.instance.id, order.graceMs);
      case "send-stop":
        return this.#sendStop(order);
      case "pause":
        return this.#setPaused(order.instance.id, true);
      case "wake":
        return this.#setPaused(order.instance.id, false);
      default:
        return order satisfies never;
    }
  }

  /** An instance that cannot be ended is tried again in the next pass, which need not come any sooner. */
  destroy(instanceId: string, graceMs: number): void {
    const { driver, log } = this.#world;
    this.#once(`destroy ${instanceId}`, {
      run: () => driver.destroy(instanceId, { graceMs }),
      done: this.#nudge,
      failed: (error) => log.warn({ err: error, instanceId }, "instance could not be ended"),
    });
  }

  isDestroying(instanceId: string): boolean {
    return this.#underWay.has(`destroy ${instanceId}`);
  }

  #sendStop({
    session: { id: sessionId, instanceId: id },
    address,
    reason,
  }: Order & { do: "send-stop" }): void {
    if (id === null) return;
    const { network, epoch, log } = this.#world;
    this.#once(`stop ${sessionId}`, {
      run: () => network.stop({ id, address }, { epoch, sessionId, reason }),
      failed: (error) => log.debug({ err: error, sessionId }, "stop did not reach the instance"),
    });
  }

  #setPaused(instanceId: string, isPaused: boolean): void {
    const { driver, log } = this.#world;
    this.#once(`pause ${instanceId}`, {
      run: () => (isPaused ? this.#pauseIfFree(instanceId) : driver.wake?.(instanceId)),
      done: this.#nudge,
      failed: (error) =>
        log.warn({ err: error, instanceId }, `${isPaused ? "pausing" : "waking"} the instance failed`),
    });
  }

  /** A session that comes meanwhile wakes the instance it finds paused; it must not be paused after that. */
  async #pauseIfFree(id: string): Promise<void> {
    const { driver, store } = this.#world;
    await driver.pause?.(id);
    const row = await store.db
      .selectFrom("instances")
      .select(["state", "sessionId"])
      .where("id", "=", id)
      .executeTakeFirst();
    if (row?.state !== "ready" || row.sessionId !== null) await driver.wake?.(id);
  }

  #once(
    what: string,
    order: { run(): Promise<void> | undefined; done?(): void; failed(error: unknown): void },
  ): void {
    if (this.#underWay.has(what)) return;
    this.#underWay.add(what);
    void Promise.resolve(order.run())
      .finally(() => this.#underWay.delete(what))
      .then(() => order.done?.(), order.failed);
  }
}
