/** The user's microphone: one source, handed out as copies that can be stopped on their own. */
export class Microphone {
  #stream: MediaStream | undefined;
  #copies = new Set<MediaStreamTrack>();
  #enabled = true;
  #closed = false;
  /** The device went away by itself, e.g. was unplugged. */
  onLost: (() => void) | undefined;

  get stream(): MediaStream | undefined {
    return this.#stream;
  }

  get enabled(): boolean {
    return this.#enabled;
  }

  /** The device in use, as far as the browser tells. */
  get device(): { deviceId: string; label: string } | undefined {
    const track = this.#stream?.getAudioTracks()[0];
    return track && { deviceId: track.getSettings().deviceId ?? "", label: track.label };
  }

  /** Opens a device, the default one if none is named or the named one is gone. */
  async open(deviceId: string | undefined): Promise<void> {
    const stream = await getStream(deviceId);
    this.#stop();
    this.#stream = stream;
    if (this.#closed) return this.#stop(); // given up while the browser was asking
    for (const track of stream.getAudioTracks()) {
      track.enabled = this.#enabled;
      track.addEventListener("ended", () => this.onLost?.()); // not fired by our own stop()
    }
  }

  setEnabled(enabled: boolean): void {
    this.#enabled = enabled;
    for (const track of this.#stream?.getAudioTracks() ?? []) track.enabled = enabled;
    for (const track of this.#copies) track.enabled = enabled;
  }

  /** A peer connection stops its track when it is dropped, so each gets its own. */
  copy(): MediaStreamTrack | undefined {
    const copy = this.#stream?.getAudioTracks()[0]?.clone();
    if (copy) this.#copies.add(copy);
    return copy;
  }

  close(): void {
    this.#closed = true;
    this.#stop();
  }

  #stop(): void {
    for (const track of this.#copies) track.stop();
    for (const track of this.#stream?.getTracks() ?? []) track.stop();
    this.#copies.clear();
    this.#stream = undefined;
  }
}

async function getStream(deviceId: string | undefined): Promise<MediaStream> {
  const wanted = { echoCancellation: true, noiseSuppression: true, autoGainControl: true };
  const open = (audio: MediaTrackConstraints) => navigator.mediaDevices.getUserMedia({ audio, video: false });
  if (!deviceId) return open(wanted);
  try {
    return await open({ ...wanted, deviceId: { exact: deviceId } });
  } catch (error) {
    const isGone = error instanceof Error && ["OverconstrainedError", "NotFoundError"].includes(error.name);
    if (!isGone) throw error;
    return open(wanted);
  }
}
