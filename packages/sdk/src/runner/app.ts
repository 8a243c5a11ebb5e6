import { createSessionApp } from "../server/session-app.ts";
import { createRunnerLog } from "./runner-log.ts";

export const runnerLog = createRunnerLog();

// Awaited here so that whoever imports `app` may add WebSocket routes at once.
export const sessionApp = await createSessionApp(runnerLog.log);

/** The runner's web application. Add routes before `main()`; they are reachable under every session too. */
export const app = sessionApp.app;
