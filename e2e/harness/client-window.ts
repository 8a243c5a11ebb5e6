import assert from "node:assert/strict";
import type { Browser, BrowserContextOptions } from "playwright-core";
import type { RunnerProcess } from "./runner-process.ts";
import { openWatchedPage, type WatchedPage } from "./watched-page.ts";

/** The runner's client page, with an ear at the speaker and an eye on the microphone. */
export interface ClientWindow extends WatchedPage {
  /** Sound energy received from the bot, over all connections of the page; never falls. */
  energy(): Promise<number>;
  peers(): Promise<number>;
  /** Returns whether every track is muted, of this session and earlier ones. */
  microphoneIsOff(): Promise<boolean>;
  microphoneIsReleased(): Promise<boolean>;
}

export const desktop: BrowserContextOptions = { viewport: { width: 1280, height: 800 } };
export const mobile: BrowserContextOptions = {
  viewport: { width: 375, height: 720 },
  hasTouch: true,
  isMobile: true,
};

export interface ClientWindowOptions extends BrowserContextOptions {
  /** @default "/client/" */
  path?: string;
}

/** Opens the page. At the end it asserts that the page asked only the runner and reported no error. */
export async function openClientWindow(
  browser: Browser,
  runner: RunnerProcess,
  { path = "/client/", ...options }: ClientWindowOptions,
): Promise<ClientWindow> {
  const opened = await openWatchedPage(browser, {
    ...options,
    isComplaint: (message) => /content security policy/i.test(message.text()),
  });
  const { page, complaints } = opened;
  const foreign: string[] = [];
  const note = (url: string): void => {
    const { host, protocol } = new URL(url);
    if (protocol !== "blob:" && host !== new URL(runner.url).host) foreign.push(url);
  };
  page.on("request", (request) => note(request.url()));
  page.on("websocket", (socket) => note(socket.url()));
  await page.addInitScript(watchMedia);
  await page.goto(`${runner.url}${path}`);
  await page.getByRole("heading", { name: /^Ready/ }).waitFor();
  return {
    ...opened,
    energy: () => page.evaluate(() => (window as unknown as Watched).botEnergy()),
    peers: () => page.evaluate(() => (window as unknown as Watched).peers.length),
    microphoneIsOff: () =>
      page.evaluate(() =>
        (window as unknown as Watched).tracks.every(
          (track) => track.readyState === "ended" || !track.enabled,
        ),
      ),
    microphoneIsReleased: () =>
      page.evaluate(() =>
        (window as unknown as Watched).tracks.every((track) => track.readyState === "ended"),
      ),
    async [Symbol.asyncDispose]() {
      await opened[Symbol.asyncDispose]();
      assert.deepEqual(foreign, [], "requests that left the runner");
      assert.deepEqual(complaints, [], "errors of the page");
    },
  };
}

interface Watched {
  peers: RTCPeerConnection[];
  tracks: MediaStreamTrack[];
  botEnergy(): Promise<number>;
}

/** Runs in the page before it: keeps hold of connections and microphone tracks, and listens at the speaker. */
function watchMedia(): void {
  const watched = window as unknown as Watched;
  watched.peers = [];
  watched.tracks = [];
  const keep = (track: MediaStreamTrack): MediaStreamTrack => {
    watched.tracks.push(track);
    return track;
  };
  const open = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
  // It does not get what it asks for here, but has to ask.
  navigator.mediaDevices.getUserMedia = async ({ audio, ...others } = {}) => {
    const asked: MediaTrackConstraints = typeof audio === "object" ? audio : {};
    if (!asked.echoCancellation || !asked.noiseSuppression || !asked.autoGainControl)
      throw new Error(
        "The page opens the microphone without asking for its echo, noise and level to be seen to",
      );
    const stream = await open({ ...others, audio: asked });
    stream.getTracks().forEach(keep);
    return stream;
  };
  const clone = MediaStreamTrack.prototype.clone;
  MediaStreamTrack.prototype.clone = function (this: MediaStreamTrack) {
    return keep(clone.call(this));
  };
  window.RTCPeerConnection = class extends RTCPeerConnection {
    constructor(configuration?: RTCConfiguration) {
      super(configuration);
      watched.peers.push(this);
    }
  };
  let played = 0;
  const connect = AudioNode.prototype.connect as (...args: unknown[]) => unknown;
  AudioNode.prototype.connect = function (this: AudioNode, ...args: unknown[]) {
    if (args[0] instanceof AudioDestinationNode) {
      const ear = new AnalyserNode(this.context, { fftSize: 2048 });
      connect.call(this, ear);
      const samples = new Float32Array(ear.fftSize);
      setInterval(() => {
        ear.getFloatTimeDomainData(samples);
        played += samples.reduce((sum, sample) => sum + sample * sample, 0) / ear.context.sampleRate;
      }, 80);
    }
    return connect.apply(this, args);
  } as never;
  const received = new Map<string, number>();
  const listen = async (peer: RTCPeerConnection, index: number): Promise<void> => {
    for (const stat of (await peer.getStats()).values() as Iterable<AudioStat>) {
      if (stat.type !== "inbound-rtp" || stat.totalAudioEnergy === undefined) continue;
      received.set(`${index} ${stat.id}`, stat.totalAudioEnergy);
    }
  };
  const listenToAll = (): Promise<void[]> => Promise.all(watched.peers.map(listen));
  setInterval(() => void listenToAll(), 500); // a connection that was closed no longer says what it had received
  watched.botEnergy = async () => {
    await listenToAll();
    return [...received.values()].reduce((sum, energy) => sum + energy, played);
  };
}

interface AudioStat {
  id: string;
  type: string;
  totalAudioEnergy?: number;
}
