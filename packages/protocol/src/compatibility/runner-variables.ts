/** Environment variables of other runners, by the name they have here. Ours win where both are set. */
const FOREIGN_VARIABLES: Record<string, string> = {
  VOCALHOST_WEBSOCKET_AUTH: "PIPECAT_WEBSOCKET_AUTH",
  VOCALHOST_ICE_SERVERS: "PIPECAT_ICE_SERVERS",
  VOCALHOST_ALLOWED_ORIGINS: "PIPECAT_ALLOWED_ORIGINS",
  VOCALHOST_UPLOADS_FOLDER: "PIPECAT_UPLOADS_FOLDER",
};

/** The environment with our names filled in from theirs. */
export function withOurVariables(
  environment: Record<string, string | undefined>,
): Record<string, string | undefined> {
  const filled = { ...environment };
  for (const [ours, theirs] of Object.entries(FOREIGN_VARIABLES)) filled[ours] ||= environment[theirs];
  return filled;
}
