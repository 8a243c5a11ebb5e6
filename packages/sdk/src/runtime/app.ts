import { createSessionApp } from "../server/session-app.ts";
import { createRuntimeLog } from "./runtime-log.ts";

export const runtimeLog = createRuntimeLog();

// Awaited here so that importers of `app` can add WebSocket routes at once.
export const sessionApp = await createSessionApp(runtimeLog.log);

/** The runner's web application. Add routes before `main()`; they are also reachable under every session. */
export const app = sessionApp.app;
