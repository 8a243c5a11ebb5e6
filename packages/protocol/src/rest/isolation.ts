import { z } from "zod";

/** What keeps bots that are processes beside the service apart, and what holds them to their memory. */
export const Isolation = z.object({
  /** Null: there are none. */
  processes: z
    .object({
      /** Numbers of the users that they have; null: they run as the service's own user. */
      users: z.object({ first: z.number(), last: z.number() }).nullable(),
      /** Why they have none of their own. */
      why: z.string().optional(),
      /** The kernel's control groups, or a look at their resident size every half second. */
      memory: z.enum(["control-groups", "watch"]),
    })
    .nullable(),
});
export type Isolation = z.infer<typeof Isolation>;
