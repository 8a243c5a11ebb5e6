import { transportNames } from "@vocalhost/protocol";
import {
  choice,
  flag,
  number,
  optionalWord,
  parseDurationMs,
  parseWholeNumber,
  text,
} from "../command-option.ts";
import { defineCommand } from "../define-command.ts";
import { serviceOptions } from "../service/service-options.ts";

const agent = optionalWord({ help: "name of the agent (default: agent_name in vocalhost.toml)" });
const region = text({
  takes: "code",
  short: "r",
  help: "region, for an agent in several (default: the agent's first region)",
});

const chosenRegion = text({
  takes: "code",
  short: "r",
  help: "region; required for an agent in several",
});

const list = defineCommand({
  name: "agent list",
  summary: "list the agents",
  description: "Lists the agents of your organisation with their state, sessions and scaling.",
  options: { region: text({ takes: "code", short: "r", help: "only in this region" }), ...serviceOptions },
  examples: [
    { line: "vocalhost agent list", about: "all" },
    { line: "vocalhost agent list --json | jq -r '.agents[].name'", about: "names, for a script" },
  ],
  load: async () => (await import("../agent/inspect.ts")).list,
});

const status = defineCommand({
  name: "agent status",
  summary: "show the state of an agent",
  description:
    "Shows an agent's state, its current and previous deployment, settings, errors and last crash.",
  arguments: { agent },
  options: { region, ...serviceOptions },
  examples: [
    { line: "vocalhost agent status my-agent", about: "everything about it" },
    { line: "vocalhost agent status --json", about: "the agent of this folder, for a script" },
  ],
  load: async () => (await import("../agent/inspect.ts")).status,
});

const start = defineCommand({
  name: "agent start",
  summary: "start a session",
  description: "Starts a session with a public key, as an application would, and shows how to reach it.",
  arguments: { agent },
  options: {
    transport: choice({
      values: transportNames,
      default: "webrtc",
      short: "t",
      help: "how to talk to it",
    }),
    data: text({ takes: "json", short: "d", help: "JSON that the bot receives as its body" }),
    dataFile: text({ takes: "file", help: "the same from a file; - is standard input" }),
    region: text({
      takes: "code",
      short: "r",
      help: "where to run it; the nearest region takes it if that one cannot (default: the agent's own)",
    }),
    stayInRegion: flag({ help: "refuse the start rather than run it in another region" }),
    apiKey: text({
      takes: "key",
      short: "k",
      help: "public key (default: the one kept by vocalhost keys create --default)",
    }),
  },
  examples: [
    { line: "vocalhost agent start my-agent", about: "a WebRTC session" },
    {
      line: `vocalhost agent start my-agent --data '{"name":"Ada"}' --yes`,
      about: "with a body, without questions",
    },
    { line: "vocalhost agent start my-agent -t websocket --json", about: "address and token of a socket" },
    { line: "vocalhost agent start my-agent -t twilio", about: "the same for a carrier's stream" },
    { line: "vocalhost agent start my-agent --region eu-north", about: "there, or in the nearest region" },
  ],
  load: async () => (await import("../agent/sessions.ts")).start,
});

const stop = defineCommand({
  name: "agent stop",
  summary: "stop a session",
  description: "Stops one session immediately. The bot cannot say goodbye.",
  arguments: { agent },
  options: {
    sessionId: text({ takes: "id", short: "s", help: "the session, or the start of its id (required)" }),
    ...serviceOptions,
  },
  examples: [
    { line: "vocalhost agent stop my-agent --session-id 3f2a9c04", about: "asks first" },
    { line: "vocalhost agent stop my-agent -s 3f2a9c04 --yes", about: "does not ask" },
  ],
  load: async () => (await import("../agent/sessions.ts")).stop,
});

const sessions = defineCommand({
  name: "agent sessions",
  summary: "list the sessions of an agent, or show one",
  description: "Lists sessions, newest first. With --id it shows one session with its start, CPU and memory.",
  arguments: { agent },
  options: {
    id: text({ takes: "id", short: "i", help: "show this session (id or its start)" }),
    status: choice({ values: ["active", "ended", "all"], default: "all", help: "sessions to list" }),
    region: text({ takes: "code", short: "r", help: "only in this region" }),
    limit: number({
      takes: "count",
      short: "n",
      parse: parseWholeNumber({ min: 1, max: 1000 }),
      help: "how many (default: 20)",
    }),
    ...serviceOptions,
  },
  examples: [
    { line: "vocalhost agent sessions my-agent --status active", about: "calls in progress" },
    { line: "vocalhost agent sessions my-agent --id 3f2a9c04", about: "one in detail" },
  ],
  load: async () => (await import("../agent/sessions.ts")).sessions,
});

const remove = defineCommand({
  name: "agent delete",
  summary: "delete an agent",
  description: "Deletes an agent. No new sessions can start; sessions in progress continue to their end.",
  arguments: { agent },
  options: { region: chosenRegion, ...serviceOptions },
  examples: [
    { line: "vocalhost agent delete", about: "the agent of this folder; asks first" },
    { line: "vocalhost agent delete my-agent --yes", about: "does not ask" },
    { line: "vocalhost agent delete my-agent --region eu-north", about: "stays in its other regions" },
  ],
  load: async () => (await import("../agent/change.ts")).remove,
});

const deployments = defineCommand({
  name: "agent deployments",
  summary: "list the deployments of an agent",
  description: "Lists an agent's deployments, newest first, with their phase and what they run.",
  arguments: { agent },
  options: { region, ...serviceOptions },
  examples: [{ line: "vocalhost agent deployments my-agent", about: "all of them" }],
  load: async () => (await import("../agent/inspect.ts")).deployments,
});

const rollback = defineCommand({
  name: "agent rollback",
  summary: "go back to an earlier deployment",
  description:
    "Redeploys an earlier deployment with its settings and watches the rollout. Without --to it takes the " +
    "newest earlier deployment that has served calls. Calls in progress are not interrupted.",
  arguments: { agent },
  options: {
    to: text({ takes: "id", help: "the deployment, or the start of its id" }),
    region: chosenRegion,
    timeout: number({
      takes: "time",
      parse: parseDurationMs,
      help: "how long to watch the rollout (default: 10m)",
    }),
    ...serviceOptions,
  },
  examples: [
    { line: "vocalhost agent rollback my-agent", about: "to the previous one" },
    {
      line: "vocalhost agent rollback my-agent --to 3f2a --yes",
      about: "to a specific one, without questions",
    },
  ],
  load: async () => (await import("../agent/change.ts")).rollback,
});

export const agentCommands = [list, status, start, stop, sessions, remove, deployments, rollback];
