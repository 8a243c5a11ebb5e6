import { z } from "zod";

/** Files of the driver in an instance's folder, which the container does not see. */
export const instanceFolderFiles = {
  /** The controller that is making the container; removed once it is made. */
  maker: "maker.json",
  /** Written once the container is made, so that a missing container is known to be removed, not yet to be made. */
  made: "made.json",
  /** Written before a controller ends the container. */
  asked: "asked.json",
} as const;

export const MadeFile = z.object({ image: z.string() });
export const AskedFile = z.object({ graceMs: z.number() });
