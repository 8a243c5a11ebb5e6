import { z } from "zod";

/** ISO-8601 UTC with milliseconds. */
export const Time = z.iso.datetime({ precision: 3 });

/** Seconds since 1970, in a query. */
export const UnixSeconds = z.coerce
  .number({ error: "Invalid timestamp format" })
  .int("Invalid timestamp format")
  .min(0, "Invalid timestamp format")
  .max(253_402_300_799, "Invalid timestamp format"); // end of the year 9999

/** `2026-11` */
export const Month = z.string().regex(/^[0-9]{4}-(0[1-9]|1[0-2])$/, "Must be a month like 2026-11");

export const Done = z.object({ status: z.literal("OK") });
export type Done = z.infer<typeof Done>;

/** The body of every refusal. Released clients show `detail`. */
export const ErrorAnswer = z.object({
  error: z.string(),
  code: z.string(),
  /** The fields that are wrong; under `/v1/public` the sentence again, which released clients show. */
  detail: z
    .union([
      z.string(),
      z.array(
        z.object({ loc: z.array(z.union([z.string(), z.number()])), msg: z.string(), type: z.string() }),
      ),
    ])
    .optional(),
  /** Only in the list of sessions. */
  err: z.object({ name: z.literal("ZodError"), issues: z.array(z.unknown()) }).optional(),
});
export type ErrorAnswer = z.infer<typeof ErrorAnswer>;

/** A part of a list, as queries ask for it. */
export function pageQuery(options: { limit: number; maxLimit: number }): z.ZodObject<{
  limit: z.ZodDefault<z.ZodCoercedNumber>;
  offset: z.ZodDefault<z.ZodCoercedNumber>;
}> {
  return z.object({
    limit: z.coerce.number().int().min(1).max(options.maxLimit).default(options.limit),
    offset: z.coerce.number().int().min(0).max(1_000_000_000).default(0),
  });
}

/** `true` or `false` in a query. */
export const QueryFlag = z.enum(["true", "false"]);
