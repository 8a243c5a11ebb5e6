import { z } from "zod";

export const RegionCode = z
  .string()
  .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/)
  .max(63);

export const Region = z.object({ code: RegionCode, display_name: z.string() });
export type Region = z.infer<typeof Region>;

export const RegionList = z.object({ regions: z.array(Region) });
export type RegionList = z.infer<typeof RegionList>;
