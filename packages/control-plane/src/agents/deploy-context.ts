import { AppError, type FieldProblem } from "@vocalhost/protocol";
import type { Clock } from "../clock.ts";
import type { Failpoint } from "../failpoints.ts";
import type { Store } from "../store/store.ts";

/** What making and changing agents needs. */
export interface DeployContext {
  store: Store;
  clock: Pick<Clock, "nowMs">;
  newId(): string;
  failpoint: Failpoint;
  /** Codes; the first is the default. */
  regions: readonly string[];
  /** Internal registries that images may come from all the same: `host` or `host:port`. */
  registries: readonly string[];
}

/** Starts a rollout, so it waits until there is room to write about it. */
export function requireRoom(store: Store): void {
  if (store.isDiskFull()) throw new AppError("SERVICE_UNAVAILABLE", { message: "The disk is full" });
}

export function badRequest(message: string): AppError {
  return new AppError("GENERIC_BAD_REQUEST", { message });
}

/** `Invalid parameters`, with the field and what is wrong about it. */
export function badField(field: string, message: string): AppError {
  const problems: FieldProblem[] = [{ loc: ["body", ...field.split(".")], msg: message, type: "custom" }];
  return new AppError("GENERIC_BAD_REQUEST", { problems });
}

export function notFound(message: string): AppError {
  return new AppError("NOT_FOUND", { message });
}
