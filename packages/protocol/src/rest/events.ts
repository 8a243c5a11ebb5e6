import { z } from "zod";

/** What can change in an organisation without anybody asking for it. */
export const ChangeKind = z.enum(["agents", "deployments", "instances", "sessions", "builds"]);
export type ChangeKind = z.infer<typeof ChangeKind>;

/** What is different since the event before; the first event and signs of life name nothing. */
export const ChangeEvent = z.object({ changed: z.array(ChangeKind) });
export type ChangeEvent = z.infer<typeof ChangeEvent>;
