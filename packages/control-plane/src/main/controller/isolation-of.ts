import type { Isolation } from "@vocalhost/protocol";
import { driversOf } from "../config.ts";
import { driverIn } from "@vocalhost/drivers/driver";
import type { BaseServices } from "./base-services.ts";

/** Tells what the process driver, if there is one, can do for bots here. */
export function isolationOf({ config, driver, users }: BaseServices): Isolation {
  const { regions = [] } = config;
  const isOwn = driversOf(regions).length > 0;
  const drivers = isOwn
    ? regions.flatMap(({ code, driver: own }) => (own?.kind === "process" ? [driverIn(driver, code)] : []))
    : config.driver.kind === "process"
      ? [driver]
      : [];
  const [first] = drivers; // all of them are on this machine
  if (!first) return { processes: null };
  const { range, why } = users;
  const memory = first.capabilities.memoryLimit ? "control-groups" : "watch";
  return { processes: { users: range ?? null, ...(why === undefined ? {} : { why }), memory } };
}
