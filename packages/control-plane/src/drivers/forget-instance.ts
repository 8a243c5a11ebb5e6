import type { OpenedDriver } from "./driver.ts";

/** Removes all there is of an instance that has ended. */
export async function forgetInstance(
  { driver, records }: Pick<OpenedDriver, "driver" | "records">,
  id: string,
): Promise<void> {
  await records.remove(id); // first: after a crash here the object is still in the list
  await driver.forget(id);
}
