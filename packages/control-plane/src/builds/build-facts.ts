import { z } from "zod";

/** Facts that a build found about the bot; stored as JSON in `builds.facts`. */
export const BuildFacts = z.object({
  /** Relative to the build's folder. */
  botFile: z.string(),
  /** Version of the base the bot runs on: from its Dockerfile's `FROM vocalhost/base:…`, else the service's own. */
  baseVersion: z.string(),
  /** Voice filter packages named in the bot's dependency files, which are not allowed there. */
  filterPackages: z.array(z.string()),
  /** The image of instances, if they do not run from the folder. */
  image: z.object({ reference: z.string() }).optional(),
});
export type BuildFacts = z.infer<typeof BuildFacts>;
