import type { TestContext } from "node:test";
import type { Caller, CallerOptions } from "./caller.ts";
import type { Target } from "./target.ts";

/** One way to reach the bot; every case is tried over each. */
export interface Line {
  readonly transport: "webrtc" | "websocket";
  /** Known once the tests run. */
  target(): Target;
  openCaller(test: TestContext, options: Omit<CallerOptions, "transport">): Promise<Caller>;
  /** A caller that is connected already. */
  call(test: TestContext, body: CallerOptions["body"]): Promise<Caller>;
}
