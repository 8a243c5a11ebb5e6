import type { Driver } from "./driver.ts";
import type { InstanceRecords } from "./instance-records.ts";

/** A machine that went down leaves hundreds behind, and others wait until they are forgotten. */
export const FORGOTTEN_AT_ONCE = 16;

/** The object is gone, its records are not: they can be removed once more. */
export class RecordsLeftError extends Error {
  override readonly name = "RecordsLeftError";
}

/** Removes all there is of an instance that has ended. */
export async function forgetInstance(
  { driver, records }: { driver: Pick<Driver, "forget">; records: Pick<InstanceRecords, "remove"> },
  id: string,
): Promise<void> {
  const left = await records.remove(id).then(
    () => undefined,
    (cause: unknown) => ({ cause }),
  ); // first: after a crash here the object is still in the list
  await driver.forget(id); // also after a failure: nothing else ends what it has started, or frees its place
  if (left)
    throw new RecordsLeftError(`The records of instance ${id} cannot be removed: ${textOf(left)}`, left);
}

function textOf({ cause }: { cause: unknown }): string {
  return cause instanceof Error ? cause.message : String(cause);
}
