import { initializeLogger, loggerOptions } from "@livekit/agents";

// LiveKit's worker does this for its jobs. Without it nothing of the library can be made, not even a session.
if (!loggerOptions()) initializeLogger({ pretty: false, level: "warn" });
