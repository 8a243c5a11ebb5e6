import { initializeLogger, loggerOptions } from "@livekit/agents";

// LiveKit's worker does this for its jobs. Without a logger, no object of the library can be created.
if (!loggerOptions()) initializeLogger({ pretty: false, level: "warn" });
