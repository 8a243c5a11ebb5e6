/** What the nouns are about that several commands share. */
export const groupSummaries: Readonly<Record<string, string>> = {
  auth: "sign in to a service, and out",
  agent: "look at agents, start and stop their sessions, roll back",
  secrets: "store what bots must keep to themselves",
  regions: "where agents can run",
  keys: "keys for applications and servers",
  build: "look at builds",
  config: "which settings are used",
};
