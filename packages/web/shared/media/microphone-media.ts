import type { Participant, PipecatClientOptions, RTVIEventCallbacks, Tracks } from "@pipecat-ai/client-js";
import { createMeter, sharedAudioContext } from "./audio-context.ts";
import { listDevices } from "./devices.ts";
import { Microphone } from "./microphone.ts";

/**
 * A media manager for the client transports, based on `getUserMedia` only. It handles sound only, and loads nothing
 * from elsewhere.
 */
export class MicrophoneMedia {
  readonly microphone = new Microphone();
  /** The microphone moved to another device while in use; `lost` if it went away by itself. */
  onMicrophoneReplaced: ((change: { lost: boolean; found: boolean }) => void) | undefined;
  readonly supportsScreenShare = false;
  protected callbacks: RTVIEventCallbacks = {};
  protected userAudioCallback: ((pcm: ArrayBuffer) => void) | undefined;
  protected microphoneSource: MediaStreamAudioSourceNode | undefined;
  readonly #wanted: { microphoneId: string | undefined; speakerId: string | undefined };
  readonly #useMicrophone: boolean;
  #userMeter: AnalyserNode | undefined;
  readonly #refresh = () => void this.#reportDevices();

  constructor(options: {
    useMicrophone: boolean;
    microphoneId: string | undefined;
    speakerId: string | undefined;
  }) {
    this.#useMicrophone = options.useMicrophone;
    this.#wanted = { microphoneId: options.microphoneId, speakerId: options.speakerId };
    this.microphone.onLost = () => void this.#replaceMicrophone("", { lost: true });
  }

  get userMeter(): AnalyserNode | undefined {
    return this.#userMeter;
  }

  get speakerId(): string | undefined {
    return this.#wanted.speakerId;
  }

  setClientOptions(options: PipecatClientOptions): void {
    this.callbacks = options.callbacks ?? {};
  }

  setUserAudioCallback(callback: (pcm: ArrayBuffer) => void): void {
    this.userAudioCallback = callback;
  }

  async initialize(): Promise<void> {
    sharedAudioContext();
    if (this.#useMicrophone) await this.#openMicrophone(this.#wanted.microphoneId);
    navigator.mediaDevices?.addEventListener("devicechange", this.#refresh);
    await this.#reportDevices();
  }

  async connect(): Promise<void> {}

  async disconnect(): Promise<void> {
    navigator.mediaDevices?.removeEventListener("devicechange", this.#refresh);
    this.microphoneSource?.disconnect();
    this.microphoneSource = undefined;
    this.microphone.close();
  }

  async userStartedSpeaking(): Promise<void> {}

  bufferBotAudio(_pcm: ArrayBuffer | Int16Array): Int16Array | undefined {
    return undefined;
  }

  async getAllMics(): Promise<MediaDeviceInfo[]> {
    return (await listDevices()).microphones;
  }

  async getAllSpeakers(): Promise<MediaDeviceInfo[]> {
    return (await listDevices()).speakers;
  }

  async getAllCams(): Promise<MediaDeviceInfo[]> {
    return [];
  }

  async updateMic(microphoneId: string): Promise<void> {
    await this.#replaceMicrophone(microphoneId, { lost: false });
  }

  updateSpeaker(speakerId: string): void {
    this.#wanted.speakerId = speakerId;
  }

  updateCam(): void {}

  get selectedMic(): MediaDeviceInfo | Record<string, never> {
    return (this.microphone.device as MediaDeviceInfo | undefined) ?? {};
  }

  get selectedSpeaker(): MediaDeviceInfo | Record<string, never> {
    return this.speakerId ? ({ deviceId: this.speakerId } as MediaDeviceInfo) : {};
  }

  get selectedCam(): Record<string, never> {
    return {};
  }

  enableMic(enable: boolean): void {
    this.microphone.setEnabled(enable);
  }

  enableCam(): void {}

  enableScreenShare(): void {}

  get isMicEnabled(): boolean {
    return this.microphone.enabled && this.microphone.stream !== undefined;
  }

  get isCamEnabled(): boolean {
    return false;
  }

  get isSharingScreen(): boolean {
    return false;
  }

  tracks(): Tracks {
    const { microphone } = this;
    return {
      local: {
        get audio() {
          return microphone.copy();
        },
      },
    };
  }

  /** Connects whatever listens to the microphone; called again for each new device. */
  protected tapMicrophone(source: MediaStreamAudioSourceNode): void {
    this.#userMeter ??= createMeter(source.context);
    source.connect(this.#userMeter);
  }

  async #replaceMicrophone(microphoneId: string, { lost }: { lost: boolean }): Promise<void> {
    this.#wanted.microphoneId = microphoneId;
    if (!this.#useMicrophone) return;
    try {
      await this.#openMicrophone(microphoneId);
      this.onMicrophoneReplaced?.({ lost, found: true });
    } catch {
      this.onMicrophoneReplaced?.({ lost, found: false });
    }
  }

  async #openMicrophone(microphoneId: string | undefined): Promise<void> {
    await this.microphone.open(microphoneId);
    const { stream, device } = this.microphone;
    if (!stream || !device) return;
    this.microphoneSource?.disconnect();
    this.microphoneSource = sharedAudioContext().createMediaStreamSource(stream);
    this.tapMicrophone(this.microphoneSource);
    // The client counts the microphone as granted only when it hears of a device.
    const known = { ...device, deviceId: device.deviceId || "default" };
    this.callbacks.onMicUpdated?.(known as MediaDeviceInfo);
    const track = stream.getAudioTracks()[0];
    if (track) this.callbacks.onTrackStarted?.(track, localParticipant);
  }

  async #reportDevices(): Promise<void> {
    const { microphones, speakers } = await listDevices();
    this.callbacks.onAvailableMicsUpdated?.(microphones);
    this.callbacks.onAvailableSpeakersUpdated?.(speakers);
  }
}

const localParticipant: Participant = { id: "local", name: "", local: true };
