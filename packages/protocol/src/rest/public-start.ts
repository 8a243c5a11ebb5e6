import { z } from "zod";
import { Dialled } from "../calls/dial.ts";
import { DialoutRequest, REGION_HEADER, Started, StartRequest } from "../session-api.ts";
import { operations } from "./operation.ts";

/** How a caller repeats a start without starting twice. */
export const IdempotencyKey = z
  .string()
  .min(1)
  .max(255)
  .regex(/^[\x21-\x7e]+$/);

export const StartHeaders = z.object({
  "idempotency-key": IdempotencyKey.optional(),
  /** From a proxy that knows where callers are; what the body says counts more. */
  [REGION_HEADER]: z.string().max(63).optional(),
});

export const publicStartOperations = operations("Public", {
  start: {
    id: "startSession",
    summary: "Start a session of an agent",
    method: "POST",
    path: "/public/:serviceName/start",
    right: "public",
    body: StartRequest,
    headers: StartHeaders,
    answer: Started,
    refusals: [409, 504],
  },
});

export const dialOutOperations = operations("Sessions", {
  dialOut: {
    id: "dialOut",
    summary: "Call somebody: a session of an agent that begins when they answer",
    method: "POST",
    path: "/agents/:serviceName/dialout",
    right: "manage",
    body: DialoutRequest,
    headers: StartHeaders,
    answer: Dialled,
    refusals: [409, 502],
  },
});
