import { z } from "zod";
import { BuildFacts } from "./build-facts.ts";

/** The builder's task, sent to its standard input. */
export const BuilderTask = z.object({
  archive: z.string(),
  /** Exists and is empty. */
  folder: z.string(),
  dockerfilePath: z.string(),
  sdkFolder: z.string(),
  allowsForeignPackages: z.boolean(),
  /** The result: only the folder, or also an image of it. */
  makes: z.enum(["folder", "image"]),
});
export type BuilderTask = z.infer<typeof BuilderTask>;

/** The builder's messages, one JSON object a line. */
export const BuilderMessage = z.discriminatedUnion("type", [
  z.object({ type: z.literal("line"), text: z.string() }),
  z.object({
    type: z.literal("done"),
    facts: BuildFacts,
    bytes: z.number().int().nonnegative(),
    /** Whether the bot has a Dockerfile for its image. */
    hasDockerfile: z.boolean(),
  }),
  z.object({ type: z.literal("failed"), message: z.string() }),
]);
export type BuilderMessage = z.infer<typeof BuilderMessage>;
