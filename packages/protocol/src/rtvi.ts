import { z } from "zod";
import { audioRatesHz, isAudioRate } from "./limits.ts";

/** Version of the client message protocol this product speaks. */
export const RTVI_VERSION = "2.2.0";
export const RTVI_LABEL = "rtvi-ai";

export const RtviMessage = z.object({
  id: z.string().optional(),
  label: z.literal(RTVI_LABEL),
  type: z.string(),
  data: z.unknown().optional(),
});
export type RtviMessage = z.infer<typeof RtviMessage>;

const About = z.looseObject({ library: z.string(), library_version: z.string().optional() });

export type ClientAbout = z.infer<typeof About>;

const RecordedAudio = z.object({
  sampleRate: z.number().refine(isAudioRate, { error: `must be one of ${audioRatesHz.join(", ")}` }),
  numChannels: z.number().int().positive(),
});

/** Where the content of a file is: in the message, at an address, or uploaded before. */
const FileSource = z.discriminatedUnion("type", [
  z.object({ type: z.literal("bytes"), bytes: z.string() }),
  z.object({ type: z.literal("url"), url: z.url() }),
  z.object({ type: z.literal("id"), id: z.string().max(256) }),
]);

/** A file as clients send it and `POST /files` answers with it. */
export const RtviFile = z.object({
  name: z.string().max(256).nullish(),
  /** Media type: `application/pdf`. */
  format: z.string().max(256),
  source: FileSource,
});
export type RtviFile = z.infer<typeof RtviFile>;

/** Data of each message a client may send, by message type. */
export const clientMessages = {
  // Never refused: a client that is not answered waits for ever.
  "client-ready": z
    .object({ version: z.string().optional().catch(undefined), about: About.optional().catch(undefined) })
    .nullish()
    .catch(undefined),
  "disconnect-bot": z.unknown(),
  "client-message": z.object({ t: z.string(), d: z.unknown().optional() }),
  "send-text": z.object({
    content: z.string(),
    options: z
      .object({ run_immediately: z.boolean().optional(), audio_response: z.boolean().optional() })
      .nullish(),
  }),
  "send-file": z.object({
    content: z.string(),
    file: RtviFile,
    options: z
      .object({
        run_immediately: z.boolean().optional(),
        audio_response: z.boolean().optional(),
        custom_options: z.record(z.string(), z.unknown()).nullish(),
      })
      .nullish(),
  }),
  dtmf: z.union([
    z.object({ buttons: z.array(z.string().regex(/^[0-9*#]$/)).min(1) }),
    z.object({ button: z.string().regex(/^[0-9*#]$/) }),
  ]),
  "llm-function-call-result": z.object({
    function_name: z.string(),
    tool_call_id: z.string(),
    arguments: z.unknown().optional(),
    result: z.unknown(),
  }),
  "ui-event": z.object({ event: z.string(), payload: z.unknown().optional() }),
  "ui-snapshot": z.object({ tree: z.unknown() }),
  "ui-cancel-job-group": z.object({ job_id: z.string(), reason: z.string().nullish() }),
  "append-to-context": z.object({
    role: z.enum(["user", "assistant"]),
    content: z.unknown(),
    run_immediately: z.boolean().nullish(),
  }),
  "raw-audio": RecordedAudio.extend({ base64Audio: z.string() }),
  "raw-audio-batch": RecordedAudio.extend({ base64AudioBatch: z.array(z.string()) }),
} as const;

export type ClientMessageType = keyof typeof clientMessages;
export type ClientMessageData<T extends ClientMessageType> = z.infer<(typeof clientMessages)[T]>;

export interface MetricItem {
  processor: string;
  value: number;
  model?: string;
}

/** Measurements of a bot's services; times in seconds. */
export interface Metrics {
  ttfb?: MetricItem[];
  /** To the first audio, and to the first audio with the text of which it is made. */
  ttfa?: MetricItem[];
  ttfat?: MetricItem[];
  processing?: MetricItem[];
  characters?: MetricItem[];
  tokens?: TokenUsage[];
  /** Seconds of speech that were understood. */
  stt_usage?: MetricItem[];
}

export interface TokenUsage {
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
  cache_read_input_tokens?: number;
  cache_creation_input_tokens?: number;
  reasoning_tokens?: number;
}

/** Capabilities of a bot besides talking, for clients that offer them. */
export interface BotCapabilities {
  /** It takes `send-file`: of these media types, in these ways, up to so many bytes. */
  files?: { formats: string[]; sources: RtviFile["source"]["type"][]; maxSize: number };
  [name: string]: unknown;
}

export interface BotOutput {
  text: string;
  aggregated_by: string;
  segment_id: number;
  will_be_spoken: boolean;
  spoken_status?: "new" | "in-progress" | "completed";
  spoken_progress?: { accumulated_text: string; remaining_text: string };
}

/** Data of each message a server may send, by message type. `undefined`: the message has none. */
export interface ServerMessages {
  "bot-ready": {
    version: string;
    about?: { library: string; library_version: string };
    capabilities?: BotCapabilities;
  };
  error: { error: string; fatal: boolean };
  "error-response": { error: string };
  "server-response": { t: string; d?: unknown };
  "server-message": unknown;
  "user-started-speaking": undefined;
  "user-stopped-speaking": undefined;
  "vad-user-started-speaking": undefined;
  "vad-user-stopped-speaking": undefined;
  "user-audio-level": { value: number };
  "bot-audio-level": { value: number };
  "bot-started-speaking": undefined;
  "bot-stopped-speaking": undefined;
  "bot-interrupted": undefined;
  "user-mute-started": undefined;
  "user-mute-stopped": undefined;
  "user-transcription": { text: string; final: boolean; timestamp: string; user_id: string };
  "bot-output": BotOutput | { text: string; aggregated_by: string; spoken: boolean };
  "bot-transcription": { text: string };
  "user-llm-text": { text: string };
  "bot-llm-started": undefined;
  "bot-llm-stopped": undefined;
  "bot-llm-text": { text: string };
  "bot-tts-started": undefined;
  "bot-tts-stopped": undefined;
  "bot-tts-text": { text: string };
  "bot-tts-audio": { audio: string; sample_rate: number; num_channels: number };
  "bot-llm-search-response": {
    search_result?: string;
    rendered_content?: string;
    origins: {
      site_uri?: string;
      site_title?: string;
      results: { text: string; confidence: number[] }[];
    }[];
  };
  "system-log": { text: string };
  "llm-function-call-started": { function_name?: string };
  "llm-function-call-in-progress": {
    tool_call_id: string;
    function_name?: string;
    arguments?: unknown;
  };
  "llm-function-call-stopped": {
    tool_call_id: string;
    cancelled: boolean;
    function_name?: string;
    result?: unknown;
  };
  metrics: Metrics;
  "ui-command": { command: string; payload: unknown };
  "ui-job-group": { kind: string; job_id: string; [field: string]: unknown };
}
export type ServerMessageType = keyof ServerMessages;

export interface RtviVersion {
  major: number;
  minor: number;
  patch: number;
}

/** `undefined` unless the text is three whole numbers joined by dots. */
export function parseRtviVersion(text: string): RtviVersion | undefined {
  const match = /^(\d{1,6})\.(\d{1,6})\.(\d{1,6})$/.exec(text);
  if (!match) return undefined;
  return { major: Number(match[1]), minor: Number(match[2]), patch: Number(match[3]) };
}
