import { z } from "zod";

/** Files the driver keeps in an instance's folder, out of its container's sight. */
export const instanceFolderFiles = {
  /** Who is making the container; gone once it is made. */
  maker: "maker.json",
  /** There once the container is made: without one it was then removed, not yet made. */
  made: "made.json",
  /** There once somebody of ours wanted it to end. */
  asked: "asked.json",
} as const;

export const MadeFile = z.object({ image: z.string() });
export const AskedFile = z.object({ graceMs: z.number() });
