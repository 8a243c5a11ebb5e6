import { z } from "zod";

export const RegionCode = z
  .string()
  .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/)
  .max(63);

export const Region = z.object({
  code: RegionCode,
  display_name: z.string(),
  /** How instances are made there: `process`, `container`, … Only where regions have drivers of their own. */
  driver: z.string().optional(),
  /** Likewise. `down`: calls go on, and agents there are not looked after until it is back. */
  status: z.enum(["up", "down"]).optional(),
});
export type Region = z.infer<typeof Region>;

/** One region, under its other name as well. */
export const RegionDetails = Region.extend({ region_key: z.string() });

export const RegionList = z.object({ regions: z.array(Region) });
export type RegionList = z.infer<typeof RegionList>;
