import { FRAME_MS, samplesIn } from "@vocalhost/audio";

/** Mixes the audio of several participants into one stream. It has no clock; incoming audio drives it. */
export interface RoomMixer {
  push(speaker: string, samples: Int16Array): void;
  /** Removes a participant who has left or stopped sending. */
  remove(speaker: string): void;
}

export interface RoomMixerOptions {
  sampleRateHz: number;
  mixed(samples: Int16Array): void;
}

const WAIT_MS = 60; // how long the mixer waits for a late participant; waiting longer would be heard as delay

export function createRoomMixer({ sampleRateHz, mixed }: RoomMixerOptions): RoomMixer {
  const frameSamples = samplesIn(FRAME_MS, sampleRateHz);
  const waitSamples = samplesIn(WAIT_MS, sampleRateHz);
  const queues = new Map<string, Int16Array>();

  function mixNext(): void {
    const sum = new Int32Array(frameSamples);
    for (const [speaker, queue] of queues) {
      const part = queue.subarray(0, frameSamples);
      for (let index = 0; index < part.length; index += 1) sum[index]! += part[index]!;
      queues.set(speaker, queue.subarray(part.length));
    }
    mixed(Int16Array.from(sum, (sample) => Math.max(-32_768, Math.min(32_767, sample))));
  }

  function mixAll(): void {
    const lengths = (): number[] => [...queues.values()].map(({ length }) => length);
    while (queues.size > 0) {
      const waiting = lengths();
      const isComplete = Math.min(...waiting) >= frameSamples;
      if (!isComplete && Math.max(...waiting) < waitSamples) return;
      mixNext();
    }
  }

  return {
    push(speaker, samples) {
      const before = queues.get(speaker);
      if (queues.size === 0 || (queues.size === 1 && before?.length === 0)) {
        queues.set(speaker, new Int16Array(0));
        return mixed(samples); // a single speaker needs no mixing
      }
      queues.set(speaker, before === undefined ? samples : concat(before, samples));
      mixAll();
    },
    remove(speaker) {
      queues.delete(speaker);
      mixAll();
    },
  };
}

function concat(first: Int16Array, second: Int16Array): Int16Array {
  const both = new Int16Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}
