import type { AudioFrame } from "@vocalhost/audio";
import { limitWait } from "./limit-waits.ts";
import { ServiceFailure } from "./service-failure.ts";
import type { SpeechToText, SpeechToTextStream } from "./services.ts";
import { untilItWorks } from "./until-it-works.ts";

export interface HearAgainOptions {
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

/** A transcriber that keeps what was said until it knows the words, and says it again to a new stream when one fails. */
export function hearAgain(options: HearAgainOptions): SpeechToTextStream {
  const { stt, sampleRateHz, limitMs, signal } = options;
  let opened: Opened | undefined;
  let pieces: AudioFrame[] = []; // since the last flush
  let again: Promise<unknown> = Promise.resolve(); // one stretch at a time

  const asFailure = (error: unknown): ServiceFailure => new ServiceFailure("stt", stt, error);

  async function open(): Promise<Opened> {
    const over = new AbortController();
    let stream: SpeechToTextStream | undefined;
    const opening = await limitWait(
      (async () =>
        stt.open({
          sampleRateHz,
          signal: AbortSignal.any([signal, over.signal]),
          partial: (text) => {
            if (stream !== undefined && opened?.stream === stream) options.partial(text);
          },
        }))(),
      options,
    );
    stream = opening;
    return {
      stream: opening,
      close() {
        opening.close?.();
        over.abort(new Error("Nobody waits for this any more"));
      },
    };
  }

  function adopt(fresh: Opened): void {
    if (opened || signal.aborted) return fresh.close();
    opened = fresh;
    for (const piece of pieces) write(fresh, piece);
  }

  function drop(broken: Opened): void {
    if (opened === broken) opened = undefined;
    broken.close();
  }

  function write(to: Opened, piece: AudioFrame): void {
    try {
      to.stream.write(piece);
    } catch {
      drop(to); // the text will be asked of another
    }
  }

  async function ask(of: Opened): Promise<string> {
    try {
      return await limitWait((async () => of.stream.flush())(), options);
    } catch (error) {
      drop(of);
      throw error;
    }
  }

  async function sayAgain(stretch: readonly AudioFrame[]): Promise<string> {
    const fresh = await open();
    for (const piece of stretch) fresh.stream.write(piece);
    const text = await ask(fresh);
    adopt(fresh);
    return text;
  }

  open().then(adopt, (error: unknown) => {
    if (!signal.aborted) options.failed(asFailure(error), false);
  });

  return {
    write(piece) {
      pieces.push(piece);
      if (opened) write(opened, piece);
    },
    flush() {
      const stretch = pieces;
      pieces = [];
      let first = opened && ask(opened);
      const attempt = (): Promise<string> => {
        const asked = first ?? again.then(() => sayAgain(stretch));
        first = undefined;
        again = asked.catch(() => undefined);
        return asked;
      };
      return untilItWorks(attempt, { limitMs, signal, asFailure, failed: options.failed });
    },
    close: () => opened?.close(),
  };
}
