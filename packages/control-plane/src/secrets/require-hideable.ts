import { badRequest } from "@vocalhost/base/refusals";
import { redactsWhole } from "./redact.ts";

/** Limits names and values together. Values of a larger set could not all be redacted in bots' output. */
const SET_BYTES_MAX = 1024 * 1024;
const KIB = 1024;
/** One statement stores them, and has room for twice as many. */
const SECRETS_MAX = 4_000;

/** Refuses a set that is too large to be stored and to be redacted everywhere. */
export function requireHideable(values: ReadonlyMap<string, string>): void {
  if (values.size > SECRETS_MAX)
    throw badRequest(`A secret set may have ${SECRETS_MAX} secrets: delete those that are no longer needed`);
  let bytes = 0;
  for (const [name, value] of values) bytes += Buffer.byteLength(name) + Buffer.byteLength(value);
  if (bytes > SET_BYTES_MAX)
    throw badRequest(
      `A secret set may have ${SET_BYTES_MAX / KIB} KiB of names and values, and would have ${Math.ceil(bytes / KIB)} KiB: ` +
        "delete secrets that are no longer needed",
    );
  if (!redactsWhole(values.values()))
    throw badRequest(
      "The values of this secret set have too many special characters to be hidden in the output of bots: " +
        "delete some, or store them as base64",
    );
}
