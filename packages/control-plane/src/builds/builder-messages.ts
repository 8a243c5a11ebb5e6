import { z } from "zod";
import { BuildFacts } from "./build-facts.ts";

/** What the builder is told, on its standard input. */
export const BuilderTask = z.object({
  archive: z.string(),
  /** Exists and is empty. */
  folder: z.string(),
  dockerfilePath: z.string(),
  sdkFolder: z.string(),
  allowsForeignPackages: z.boolean(),
  /** What is made of the folder afterwards: nothing more, or an image. */
  makes: z.enum(["folder", "image"]),
});
export type BuilderTask = z.infer<typeof BuilderTask>;

/** What it says, one JSON object a line. */
export const BuilderMessage = z.discriminatedUnion("type", [
  z.object({ type: z.literal("line"), text: z.string() }),
  z.object({
    type: z.literal("done"),
    facts: BuildFacts,
    bytes: z.number().int().nonnegative(),
    /** Whether the bot's own Dockerfile says how its image is made. */
    hasDockerfile: z.boolean(),
  }),
  z.object({ type: z.literal("failed"), message: z.string() }),
]);
export type BuilderMessage = z.infer<typeof BuilderMessage>;
