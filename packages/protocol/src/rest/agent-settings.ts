import { z } from "zod";

export const agentLimits = {
  nameCharacters: 54,
  agents: 50,
  minSessionDurationS: 60,
  maxSessionDurationS: 14_400,
} as const;

export const VoiceFilter = z.enum(["tel", "pro"]);
export type VoiceFilter = z.infer<typeof VoiceFilter>;

export const AgentProfile = z.enum(["agent-1x", "agent-2x", "agent-3x"]);
export type AgentProfile = z.infer<typeof AgentProfile>;

/** One thing a caller can decide about an agent, with everything its many faces need. */
export interface AgentSetting {
  /** A change of a deployment's setting makes a new deployment; one of the agent's applies at once. */
  of: "deployment" | "agent";
  schema: z.ZodEnum | z.ZodNumber | z.ZodString;
  default: string | number | null;
  /** How a caller takes the value away; one without this always has a value. */
  cleared?: "by-null" | "by-empty-text";
  /** Where it stands in REST bodies. */
  rest: SettingPath;
  /** Where it stands in `vocalhost.toml`. */
  toml: SettingPath;
  /** Where the file is stricter than REST. */
  tomlSchema?: z.ZodString;
  /** The option of `vocalhost deploy`; the name in camel case. */
  flag: { name: string; short?: string; takes?: string; help: string };
  /** In the plans of the command line. */
  name: string;
  /** In the dashboard's comparisons. */
  label: string;
  unit?: "s";
  /** In the dashboard's form; absent when it cannot be changed there. */
  field?: SettingField;
}

export type SettingPath = readonly [key: string] | readonly [table: string, key: string];

export type SettingField =
  | { kind: "choice"; label: string; hint?: string; options: readonly SettingOption[] }
  | { kind: "number"; label: string; hint: string }
  | { kind: "secret-set"; label: string };

export interface SettingOption {
  /** Empty: no value. */
  value: string;
  label: string;
  /** In comparisons. @default the value */
  word?: string;
}

const agentCount = (least: number): z.ZodNumber => z.number().int().min(least).max(agentLimits.agents);

/**
 * The settings of an agent, by the name they have in a deployment. REST bodies, the deployment's spec, the options of
 * `vocalhost deploy`, `vocalhost.toml` and the dashboard's form are made from this table.
 */
export const agentSettings = {
  secretSet: {
    of: "deployment",
    schema: z.string().max(63),
    default: null,
    cleared: "by-empty-text",
    rest: ["secretSet"],
    toml: ["secret_set"],
    flag: {
      name: "secrets",
      takes: "set",
      short: "s",
      help: 'secret set for the bot\'s environment; "" removes it',
    },
    name: "secret set",
    label: "Secret set",
    field: { kind: "secret-set", label: "Secret set" },
  },
  imagePullSecretSet: {
    of: "deployment",
    schema: z.string().max(63),
    default: null,
    cleared: "by-empty-text",
    rest: ["imagePullSecretSet"],
    toml: ["image_credentials"],
    tomlSchema: z.string().min(1).max(63),
    flag: { name: "credentials", takes: "set", short: "c", help: "image-pull secret" },
    name: "image-pull secret",
    label: "Image-pull secret",
  },
  agentProfile: {
    of: "deployment",
    schema: AgentProfile,
    default: "agent-1x",
    rest: ["agentProfile"],
    toml: ["agent_profile"],
    flag: { name: "profile", short: "p", help: "CPU and memory of one session" },
    name: "profile",
    label: "Profile",
    field: {
      kind: "choice",
      label: "Profile",
      options: [
        { value: "agent-1x", label: "agent-1x: half a CPU, 1 GiB" },
        { value: "agent-2x", label: "agent-2x: one CPU, 2 GiB" },
        { value: "agent-3x", label: "agent-3x: one and a half CPUs, 3 GiB" },
      ],
    },
  },
  audioFilter: {
    of: "deployment",
    schema: VoiceFilter,
    default: null,
    cleared: "by-null",
    rest: ["vendorViva", "audioFilter"],
    toml: ["vendor_viva", "audio_filter"],
    flag: {
      name: "vendorVivaAudioFilter",
      takes: "model",
      help: "voice isolation: tel up to 16 kHz, pro up to 32 kHz",
    },
    name: "audio filter",
    label: "Voice filter",
    field: {
      kind: "choice",
      label: "Voice isolation filter",
      hint: "Removes noise and other voices before your bot hears them. tel fits most uses. Sessions with it count as filter minutes.",
      options: [
        { value: "", label: "Off", word: "Off" },
        { value: "tel", label: "tel: audio up to 16 kHz" },
        { value: "pro", label: "pro: audio up to 32 kHz" },
      ],
    },
  },
  maxSessionDurationS: {
    of: "deployment",
    schema: z.number().int().min(agentLimits.minSessionDurationS).max(agentLimits.maxSessionDurationS),
    default: 7_200,
    rest: ["maxSessionDuration"],
    toml: ["max_session_duration"],
    flag: {
      name: "maxSessionDuration",
      takes: "seconds",
      help: `longest call, ${agentLimits.minSessionDurationS} to ${agentLimits.maxSessionDurationS}`,
    },
    name: "max session duration",
    label: "Longest session",
    unit: "s",
    field: {
      kind: "number",
      label: "Longest session, in seconds",
      hint: `${agentLimits.minSessionDurationS} to ${agentLimits.maxSessionDurationS}; the session is ended then.`,
    },
  },
  websocketAuth: {
    of: "deployment",
    schema: z.enum(["none", "token"]),
    default: "token",
    rest: ["websocketAuth"],
    toml: ["websocket_auth"],
    flag: { name: "websocketAuth", help: "whether WebSockets need a token" },
    name: "websocket auth",
    label: "WebSocket connections",
    field: {
      kind: "choice",
      label: "WebSocket connections",
      options: [
        { value: "token", label: "Need a token from start", word: "with a token" },
        { value: "none", label: "Open to anyone who knows the address", word: "open" },
      ],
    },
  },
  minAgents: {
    of: "agent",
    schema: agentCount(0),
    default: 0,
    rest: ["autoScaling", "minAgents"],
    toml: ["scaling", "min_agents"],
    flag: {
      name: "minAgents",
      takes: "count",
      help: "instances kept ready; with 0 the first call starts one",
    },
    name: "min agents",
    label: "Instances kept warm",
    field: {
      kind: "number",
      label: "Instances kept warm (minAgents)",
      hint: "0 scales to zero: the first session after a pause waits for a start.",
    },
  },
  maxAgents: {
    of: "agent",
    schema: agentCount(1),
    default: agentLimits.agents,
    rest: ["autoScaling", "maxAgents"],
    toml: ["scaling", "max_agents"],
    flag: { name: "maxAgents", takes: "count", help: "maximum number of instances" },
    name: "max agents",
    label: "Instances at most",
    field: {
      kind: "number",
      label: "Instances at most (maxAgents)",
      hint: "A session beyond is refused with 429.",
    },
  },
} as const satisfies Record<string, AgentSetting>;

export type AgentSettings = typeof agentSettings;
export type SettingKey = keyof AgentSettings;
