import type { AudioFrame } from "@vocalhost/audio";
import { withTimeout } from "./timeouts.ts";
import { ServiceFailure } from "./service-failure.ts";
import type { SpeechToText, SpeechToTextStream } from "./services.ts";
import { retry } from "./retry.ts";

export interface ReplayingTranscriberOptions {
  stt: SpeechToText;
  sampleRateHz: number;
  limitMs: number;
  signal: AbortSignal;
  partial(text: string): void;
  failed(failure: ServiceFailure, isOutage: boolean): void;
}

interface Opened {
  stream: SpeechToTextStream;
  close(): void;
}

/** Wraps a transcriber: keeps audio until its text is known, and replays it to a new stream when one fails. */
export function createReplayingTranscriber(options: ReplayingTranscriberOptions): SpeechToTextStream {
  return new ReplayingTranscriber(options);
}

class ReplayingTranscriber implements SpeechToTextStream {
  readonly #options: ReplayingTranscriberOptions;
  #opened: Opened | undefined;
  #pieces: AudioFrame[] = []; // since the last flush
  #again: Promise<unknown> = Promise.resolve(); // one stretch at a time
  readonly #asFailure = (error: unknown): ServiceFailure =>
    new ServiceFailure("stt", this.#options.stt, error);

  constructor(options: ReplayingTranscriberOptions) {
    this.#options = options;
    this.#open().then(this.#adopt, (error: unknown) => {
      if (!options.signal.aborted) options.failed(this.#asFailure(error), false);
    });
  }

  write(piece: AudioFrame): void {
    this.#pieces.push(piece);
    if (this.#opened) this.#write(this.#opened, piece);
  }

  flush(): Promise<string> {
    const stretch = this.#pieces;
    this.#pieces = [];
    let first = this.#opened && this.#ask(this.#opened);
    const attempt = (): Promise<string> => {
      const asked = first ?? this.#again.then(() => this.#sayAgain(stretch));
      first = undefined;
      this.#again = asked.catch(() => undefined);
      return asked;
    };
    return retry(attempt, {
      limitMs: this.#options.limitMs,
      signal: this.#options.signal,
      asFailure: this.#asFailure,
      failed: this.#options.failed,
    });
  }

  close(): void {
    this.#opened?.close();
  }

  async #open(): Promise<Opened> {
    const over = new AbortController();
    let stream: SpeechToTextStream | undefined;
    const opening = await withTimeout(
      (async () =>
        this.#options.stt.open({
          sampleRateHz: this.#options.sampleRateHz,
          signal: AbortSignal.any([this.#options.signal, over.signal]),
          partial: (text) => {
            if (stream !== undefined && this.#opened?.stream === stream) this.#options.partial(text);
          },
        }))(),
      this.#options,
    );
    stream = opening;
    return {
      stream: opening,
      close() {
        opening.close?.();
        over.abort(new Error("The wait for this service was given up"));
      },
    };
  }

  readonly #adopt = (fresh: Opened): void => {
    if (this.#opened || this.#options.signal.aborted) return fresh.close();
    this.#opened = fresh;
    for (const piece of this.#pieces) this.#write(fresh, piece);
  };

  #drop(broken: Opened): void {
    if (this.#opened === broken) this.#opened = undefined;
    broken.close();
  }

  #write(to: Opened, piece: AudioFrame): void {
    try {
      to.stream.write(piece);
    } catch {
      this.#drop(to); // the text will be requested from a new stream
    }
  }

  async #ask(of: Opened): Promise<string> {
    try {
      return await withTimeout((async () => of.stream.flush())(), this.#options);
    } catch (error) {
      this.#drop(of);
      throw error;
    }
  }

  async #sayAgain(stretch: readonly AudioFrame[]): Promise<string> {
    const fresh = await this.#open();
    for (const piece of stretch) fresh.stream.write(piece);
    const text = await this.#ask(fresh);
    this.#adopt(fresh);
    return text;
  }
}
