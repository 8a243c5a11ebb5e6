import type { DeployOptions, ServiceProcess } from "../harness/service-process.ts";
import type { Target } from "./target.ts";

const AGENT = "conformance";

// On a busy machine Opus tries less hard and a client has to offer twice, and the service says that bots share its user, or
// that no network policy surrounds them: nothing is wrong with the conversation.
const HARMLESS = [
  ...["opus complexity", "the machine is too busy", "run as the service's own user"],
  ...["bots in containers can reach this machine", "control groups"],
];

/** The hosted service, with the bot deployed to it. */
export async function hostedTarget(
  service: ServiceProcess,
  agent: Omit<DeployOptions, "name">,
): Promise<Omit<Target, typeof Symbol.asyncDispose>> {
  await service.deploy({ name: AGENT, ...agent });
  const startUrl = `${service.apiUrl}/public/${AGENT}/start`;
  return {
    startUrl,
    tokenStartUrl: startUrl,
    headers: { authorization: `Bearer ${service.publicKey}` },
    sessionEnded: (sessionId, timeoutMs) => service.sessionEnded(sessionId, timeoutMs),
    async problems() {
      const ofService = service
        .output()
        .split("\n")
        .filter((line) => /"level":[4-9]0/.test(line));
      const { logs } = await service.api.agents.logs(AGENT, { limit: 1_000 });
      const lines = logs.map(({ log }) => log).reverse(); // newest first
      const ofBots = lines
        .map((line, at) => `${line} ${lines[at + 1] ?? ""}`) // an error's own words follow it
        .filter((line) => /^\S+ (?:warn|error)\b/i.test(line));
      return [...ofService, ...ofBots].filter((line) => !HARMLESS.some((text) => line.includes(text)));
    },
  };
}
