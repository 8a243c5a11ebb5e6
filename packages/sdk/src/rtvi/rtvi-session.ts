import {
  clientMessages,
  parseRtviVersion,
  RTVI_LABEL,
  RTVI_VERSION,
  RtviMessage,
  type BotCapabilities,
  type ClientAbout,
  type ClientMessageData,
  type ClientMessageType,
  type Metrics,
  type RtviFile,
  type ServerMessages,
  type ServerMessageType,
} from "@vocalhost/protocol";
import { pcmBytes, type AudioFrame } from "@vocalhost/audio";
import { readUpload } from "../bot/uploads.ts";
import { createListeners, type Listeners } from "../listeners.ts";
import { createBotOutput, type SpokenSegment } from "./bot-output.ts";
import { incompatibility } from "./version-check.ts";

/** Conversation events between a bot and client applications, in the RTVI protocol. */
export interface RtviSession extends Pick<Listeners<RtviEvents>, "on" | "off"> {
  /** Tells the client that the bot can take input. Sent automatically unless `autoReady` is false. */
  botReady(): void;
  userStartedSpeaking(): void;
  userStoppedSpeaking(): void;
  /** Reports detected voice, whether or not it makes a turn. */
  vadUserStartedSpeaking(): void;
  vadUserStoppedSpeaking(): void;
  botInterrupted(): void;
  userTranscription(transcription: Transcription): void;
  /** Shows text that the bot says. Report its progress through the returned segment. */
  botOutput(text: string, options?: BotOutputOptions): SpokenSegment;
  /** Sends the bot's speech to clients that play or draw it themselves, in messages of valid size. */
  botTtsAudio(frame: AudioFrame): void;
  /** Sends any JSON to the client application. */
  serverMessage(data: unknown): void;
  metrics(metrics: Metrics): void;
  /** Shows an error to the user. A fatal one makes the client disconnect. */
  error(text: string, options?: { fatal?: boolean }): void;
  /** Sends any other message of the protocol. */
  send<T extends ServerMessageType>(type: T, data: ServerMessages[T]): void;
}

export interface RtviEvents {
  "client-ready": (client: { version: string | undefined; about: ClientAbout | undefined }) => void;
  "client-message": (message: ClientRequest) => void;
  "send-text": (text: { content: string; runImmediately: boolean; audioResponse: boolean }) => void;
  "send-file": (file: SentFile) => void;
  dtmf: (keys: string[]) => void;
  /** The client failed to do something; `id` names the request. */
  "error-response": (problem: { id: string; error: string }) => void;
  "function-call-result": (result: ClientMessageData<"llm-function-call-result">) => void;
  "ui-event": (event: ClientMessageData<"ui-event">) => void;
  "ui-snapshot": (snapshot: ClientMessageData<"ui-snapshot">) => void;
  "ui-cancel-job-group": (group: ClientMessageData<"ui-cancel-job-group">) => void;
  "append-to-context": (addition: ClientMessageData<"append-to-context">) => void;
}

/** A message of the client application, which may wait for an answer. */
export interface ClientRequest {
  type: string;
  data: unknown;
  respond(data?: unknown): void;
  refuse(reason: string): void;
}

/** A file that the user sends, for the model. */
export interface SentFile {
  /** The user's text about the file. */
  content: string;
  name: string | undefined;
  /** Media type. */
  format: string;
  source: RtviFile["source"];
  /**
   * Returns the content, if it came with the message or was uploaded to this runner. Throws for a file at a URL:
   * fetch it yourself if you trust the client's address.
   */
  read(): Promise<Uint8Array>;
  runImmediately: boolean;
  audioResponse: boolean;
  /** Options for the model's service, as the client gave them. */
  customOptions: Record<string, unknown>;
}

export interface Transcription {
  text: string;
  /** False while the text may still change. */
  final: boolean;
  /** @default "user" */
  userId?: string;
}

export interface BotOutputOptions {
  /** How the text was split. @default "sentence" */
  aggregatedBy?: string;
  /** False for text that is only shown. @default true */
  spoken?: boolean;
}

export interface RtviSessionOptions {
  autoReady: boolean;
  capabilities?: BotCapabilities | undefined;
  about: { library: string; library_version: string };
  send(message: RtviMessage): void;
  /** Called with audio that was recorded before the connection was up. */
  audio(samples: Int16Array, sampleRateHz: number): void;
  /** Called when the client asks to end the session. */
  disconnect(): void;
}

/** The session, and the function through which the transport passes messages. */
export interface RtviEndpoint {
  readonly session: RtviSession;
  receive(message: unknown): void;
}

const TTS_AUDIO_SAMPLES = 12_000; // 32 kB in base64, half the size limit of a data channel
const WAITING_CLIENTS_MAX = 8; // a client greets once, and again after each reconnect

export function createRtviSession(options: RtviSessionOptions): RtviEndpoint {
  return new RtviExchange(options);
}

class RtviExchange implements RtviEndpoint {
  readonly #options: RtviSessionOptions;
  readonly #listeners = createListeners<RtviEvents>();
  #botIsReady: boolean;
  readonly #capabilities: { capabilities?: BotCapabilities };
  readonly #waitingClients: { id: string; version: string }[] = []; // greetings not yet answered
  #clientIsOld = false;
  readonly session: RtviSession = {
    on: this.#listeners.on,
    off: this.#listeners.off,
    botReady: () => {
      this.#botIsReady = true;
      this.#answerClients();
    },
    userStartedSpeaking: () => this.#send("user-started-speaking"),
    userStoppedSpeaking: () => this.#send("user-stopped-speaking"),
    vadUserStartedSpeaking: () => this.#send("vad-user-started-speaking"),
    vadUserStoppedSpeaking: () => this.#send("vad-user-stopped-speaking"),
    botTtsAudio: ({ samples, sampleRateHz }) => {
      for (let at = 0; at < samples.length; at += TTS_AUDIO_SAMPLES) {
        const piece = samples.subarray(at, at + TTS_AUDIO_SAMPLES);
        const audio = Buffer.from(pcmBytes(piece)).toString("base64");
        this.#send("bot-tts-audio", { audio, sample_rate: sampleRateHz, num_channels: 1 });
      }
    },
    botInterrupted: () => this.#send("bot-interrupted"),
    userTranscription: ({ text, final, userId }) =>
      this.#send("user-transcription", {
        text,
        final,
        timestamp: new Date().toISOString(),
        user_id: userId ?? "user",
      }),
    botOutput: createBotOutput({
      send: (data) => this.#send("bot-output", data),
      clientIsOld: () => this.#clientIsOld,
    }),
    serverMessage: (data) => this.#send("server-message", data),
    metrics: (metrics) => this.#send("metrics", metrics),
    error: (text, input) => this.#send("error", { error: text, fatal: input?.fatal ?? false }),
    send: (type, data) => this.#send(type, data),
  };

  constructor(options: RtviSessionOptions) {
    this.#options = options;
    this.#botIsReady = options.autoReady;
    this.#capabilities = options.capabilities ? { capabilities: options.capabilities } : {};
  }

  receive(message: unknown): void {
    if (!hasOurLabel(message)) return; // an application's own message
    const envelope = RtviMessage.safeParse(message);
    if (!envelope.success)
      return this.session.error(`Invalid RTVI transport message: ${firstProblem(envelope.error)}`);
    const { id = "", type } = envelope.data;
    // An error answered with an error could loop forever.
    if (type === "error-response" || type === "error")
      return this.#listeners.emit("error-response", { id, error: errorIn(envelope.data.data) });
    if (!isClientMessageType(type))
      return this.#send("error-response", { error: `Unsupported type ${type}` }, id);
    const data = clientMessages[type].safeParse(envelope.data.data);
    if (!data.success)
      return this.#send("error-response", { error: `Invalid message: ${firstProblem(data.error)}` }, id);
    return this.#onKnown(id, type, data.data);
  }

  #send(type: string, data?: unknown, id?: string): void {
    this.#options.send({
      label: RTVI_LABEL,
      type,
      ...(id === undefined ? {} : { id }),
      ...(data === undefined ? {} : { data }),
    });
  }

  #answerClients(): void {
    if (!this.#botIsReady) return;
    for (const { id, version } of this.#waitingClients.splice(0))
      this.#send("bot-ready", { version, about: this.#options.about, ...this.#capabilities }, id);
  }

  #onClientReady(id: string, data: ClientMessageData<"client-ready">): void {
    const version = data?.version;
    const problem = incompatibility(version);
    if (problem) this.#send("error-response", { error: problem }, id);
    const oldVersion = version !== undefined && parseRtviVersion(version)?.major === 1 ? version : undefined;
    this.#clientIsOld = oldVersion !== undefined;
    // Version 1 clients choose how to show text by the version in the answer.
    if (this.#waitingClients.length < WAITING_CLIENTS_MAX)
      this.#waitingClients.push({ id, version: oldVersion ?? RTVI_VERSION });
    this.#listeners.emit("client-ready", { version, about: data?.about });
    this.#answerClients();
  }

  #onKnown(id: string, type: ClientMessageType, data: unknown): void {
    switch (type) {
      case "client-ready":
        return this.#onClientReady(id, data as ClientMessageData<"client-ready">);
      case "disconnect-bot":
        return this.#options.disconnect();
      case "client-message":
        return this.#onClientMessage(id, data as ClientMessageData<"client-message">);
      case "send-text":
        return this.#onSendText(data as ClientMessageData<"send-text">);
      case "send-file":
        return this.#onSendFile(id, data as ClientMessageData<"send-file">);
      case "dtmf":
        return this.#onDtmf(data as ClientMessageData<"dtmf">);
      case "llm-function-call-result":
        return this.#listeners.emit("function-call-result", data as ClientMessageData<typeof type>);
      case "ui-event":
        return this.#listeners.emit(type, data as ClientMessageData<typeof type>);
      case "ui-snapshot":
        return this.#listeners.emit(type, data as ClientMessageData<typeof type>);
      case "ui-cancel-job-group":
        return this.#listeners.emit(type, data as ClientMessageData<typeof type>);
      case "append-to-context":
        return this.#listeners.has(type)
          ? this.#listeners.emit(type, data as ClientMessageData<typeof type>)
          : this.#send("error-response", { error: `Unsupported type ${type}` }, id);
      case "raw-audio":
      case "raw-audio-batch":
        return this.#onRawAudio(
          data as ClientMessageData<"raw-audio"> | ClientMessageData<"raw-audio-batch">,
        );
      default:
        return type satisfies never;
    }
  }

  #onClientMessage(id: string, { t, d }: ClientMessageData<"client-message">): void {
    if (!this.#listeners.has("client-message"))
      return this.#send("error-response", { error: `This bot does not listen to client messages` }, id);
    return this.#listeners.emit("client-message", {
      type: t,
      data: d,
      respond: (data) => this.#send("server-response", { t, ...(data === undefined ? {} : { d: data }) }, id),
      refuse: (reason) => this.#send("error-response", { error: reason }, id),
    });
  }

  #onSendText({ content, options: input }: ClientMessageData<"send-text">): void {
    this.#listeners.emit("send-text", {
      content,
      runImmediately: input?.run_immediately ?? true,
      audioResponse: input?.audio_response ?? true,
    });
  }

  #onSendFile(id: string, { content, file, options: input }: ClientMessageData<"send-file">): void {
    if (!this.#listeners.has("send-file"))
      return this.#send("error-response", { error: "This bot does not take files" }, id);
    return this.#listeners.emit("send-file", {
      content,
      name: file.name ?? undefined,
      format: file.format,
      source: file.source,
      read: () => readFile(file.source),
      runImmediately: input?.run_immediately ?? true,
      audioResponse: input?.audio_response ?? true,
      customOptions: input?.custom_options ?? {},
    });
  }

  #onDtmf(data: ClientMessageData<"dtmf">): void {
    this.#listeners.emit("dtmf", "buttons" in data ? data.buttons : [data.button]);
  }

  #onRawAudio(data: ClientMessageData<"raw-audio"> | ClientMessageData<"raw-audio-batch">): void {
    if (data.numChannels !== 1) return;
    const chunks = "base64Audio" in data ? [data.base64Audio] : data.base64AudioBatch;
    for (const chunk of chunks) this.#options.audio(pcmFromBase64(chunk), data.sampleRate);
  }
}

async function readFile(source: RtviFile["source"]): Promise<Uint8Array> {
  switch (source.type) {
    case "bytes":
      return Buffer.from(source.bytes.replace(/^data:[^,]*,/, ""), "base64");
    case "id":
      return readUpload(source.id);
    case "url":
      throw new TypeError(
        "The file is at an address of the client's choice: fetch source.url only if you trust it",
      );
    default:
      return source satisfies never;
  }
}

function errorIn(data: unknown): string {
  const { error } = (typeof data === "object" && data !== null ? data : {}) as { error?: unknown };
  return typeof error === "string" ? error.slice(0, ERROR_MAX_CHARACTERS) : "";
}

const ERROR_MAX_CHARACTERS = 500;

function hasOurLabel(message: unknown): boolean {
  return (
    typeof message === "object" && message !== null && "label" in message && message.label === RTVI_LABEL
  );
}

function isClientMessageType(type: string): type is ClientMessageType {
  return Object.hasOwn(clientMessages, type);
}

function firstProblem(error: { issues: { path: PropertyKey[]; message: string }[] }): string {
  const [issue] = error.issues;
  if (!issue) return "not valid";
  return issue.path.length > 0 ? `${issue.path.join(".")}: ${issue.message}` : issue.message;
}

function pcmFromBase64(text: string): Int16Array {
  const bytes = Buffer.from(text, "base64");
  const samples = new Int16Array(bytes.length >> 1);
  for (let at = 0; at < samples.length; at += 1) samples[at] = bytes.readInt16LE(at * 2);
  return samples;
}
