/** What the nouns are about that several commands share. */
export const groupSummaries: Readonly<Record<string, string>> = {
  auth: "sign in to a service and out again",
  agent: "inspect agents, start and stop their sessions, roll back",
  secrets: "store secrets for your bots",
  regions: "where agents can run",
  keys: "keys for applications and servers",
  organizations: "organisations you belong to, and what they may have",
  build: "inspect builds",
  image: "make container images, push and load them",
  "network-policy": "what bots in containers may reach",
  "master-keys": "what secrets are sealed with",
  store: "where the service keeps its data",
  config: "see which settings are used",
};
