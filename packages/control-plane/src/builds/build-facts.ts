import { z } from "zod";

/** What a build found out about the bot; stored as JSON in `builds.facts`. */
export const BuildFacts = z.object({
  /** Relative to the build's folder. */
  botFile: z.string(),
  /** Version of the base the bot runs on: of its Dockerfile's `FROM vocalhost/base:…`, else the service's own. */
  baseVersion: z.string(),
  /** Voice filter packages named in the bot's dependency files, which must not be there. */
  filterPackages: z.array(z.string()),
  /** What instances are made of, where that is no folder. */
  image: z.object({ reference: z.string() }).optional(),
});
export type BuildFacts = z.infer<typeof BuildFacts>;
