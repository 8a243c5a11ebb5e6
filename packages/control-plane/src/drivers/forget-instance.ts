import type { OpenedDriver } from "./driver.ts";

/** A machine that went down leaves hundreds behind, and others wait until they are forgotten. */
export const FORGOTTEN_AT_ONCE = 16;

/** Removes all there is of an instance that has ended. */
export async function forgetInstance(
  { driver, records }: Pick<OpenedDriver, "driver" | "records">,
  id: string,
): Promise<void> {
  await records.remove(id); // first: after a crash here the object is still in the list
  await driver.forget(id);
}
