import { z } from "zod";
import { operations } from "./operation.ts";

/** What can change in an organisation without anybody asking for it. */
export const ChangeKind = z.enum(["agents", "deployments", "instances", "sessions", "builds"]);
export type ChangeKind = z.infer<typeof ChangeKind>;

/** What is different since the event before; the first event and signs of life name nothing. */
export const ChangeEvent = z.object({ changed: z.array(ChangeKind) });
export type ChangeEvent = z.infer<typeof ChangeEvent>;

export const eventOperations = operations("Organisation", {
  /** Ends with the signal, or when the service closes the stream. */
  events: {
    id: "followEvents",
    summary: "What kinds of things change, as they do, as server-sent events",
    method: "GET",
    path: "/events",
    right: "view",
    answer: { events: ChangeEvent },
  },
});
