import { agentLimits } from "@vocalhost/protocol";
import {
  flag,
  number,
  optionalChoice,
  optionalWord,
  parseDurationMs,
  parseWholeNumber,
  text,
  type ArgumentValues,
  type OptionValues,
} from "../command-option.ts";
import { organizationOption } from "../service/service-options.ts";

export const deployArguments = {
  agent: optionalWord({ help: "name of the agent (default: agent_name of vocalhost.toml)" }),
  image: optionalWord({ help: "image to run instead of a build: registry/name:tag" }),
};

const { agents, minSessionDurationS, maxSessionDurationS } = agentLimits;

export const deployOptions = {
  buildDir: text({ takes: "folder", short: "d", help: "the bot's folder (default: that of vocalhost.toml)" }),
  dockerfile: text({ takes: "path", help: "Dockerfile in the bot's folder (default: Dockerfile)" }),
  buildId: text({ takes: "id", short: "b", help: "a build that exists, instead of a new one" }),
  minAgents: number({
    takes: "count",
    parse: parseWholeNumber({ min: 0, max: agents }),
    help: "instances kept ready; 0 starts one when somebody calls",
  }),
  maxAgents: number({
    takes: "count",
    parse: parseWholeNumber({ min: 1, max: agents }),
    help: "instances at most",
  }),
  secrets: text({ takes: "set", short: "s", help: 'secret set of the bot\'s environment; "" takes it away' }),
  credentials: text({ takes: "set", short: "c", help: "image-pull secret" }),
  region: text({ takes: "code", short: "r", help: "where it runs; an agent never moves" }),
  profile: optionalChoice({
    values: ["agent-1x", "agent-2x", "agent-3x"],
    short: "p",
    help: "room for one session",
  }),
  vendorVivaAudioFilter: optionalChoice({
    values: ["tel", "pro", "none"],
    takes: "model",
    help: "voice isolation: tel up to 16 kHz, pro up to 32 kHz",
  }),
  maxSessionDuration: number({
    takes: "seconds",
    parse: parseWholeNumber({ min: minSessionDurationS, max: maxSessionDurationS }),
    help: `longest call, ${minSessionDurationS} to ${maxSessionDurationS}`,
  }),
  websocketAuth: optionalChoice({ values: ["none", "token"], help: "whether sockets need a token" }),
  force: flag({ short: "f", help: "make a new deployment even if nothing changed; asks nothing" }),
  dryRun: flag({ help: "print what would change and change nothing" }),
  timeout: number({
    takes: "time",
    parse: parseDurationMs,
    help: "how long to watch the rollout (default: 10m)",
  }),
  configFile: text({ takes: "path", help: "another file than vocalhost.toml" }),
  organization: organizationOption,
};

export type DeployOptions = OptionValues<typeof deployOptions> & ArgumentValues<typeof deployArguments>;
