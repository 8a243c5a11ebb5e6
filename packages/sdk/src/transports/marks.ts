/** Learns from the carrier how much of the bot's audio has been heard. */
export interface Marks {
  /** Requests a mark for everything sent so far. */
  place(samples: number, isLast: boolean): void;
  returned(name: string): void;
  /** Notes that audio after this many samples will be sent again; returned marks from before are ignored. */
  rewind(samples: number): void;
  /** Forgets everything; returned marks from before are ignored. */
  clear(generation: number): void;
  stop(): void;
}

export interface MarksOptions {
  /** False for a carrier that never returns marks: audio then counts as heard once sent. */
  acknowledged: boolean;
  send(name: string): void;
  played(generation: number, samples: number): void;
}

const OUR_NAME = /^(\d{1,15}):(\d{1,15})$/;
const ANSWER_MS = 3_000; // a carrier that has not answered for this long is treated as one that never does, until it does

export function createMarks(options: MarksOptions): Marks {
  let generation = 0;
  let era = 0; // carriers return all marks when their queue is cleared, whether heard or not
  let placed = 0;
  let heard = 0;
  let isSilent = false; // the carrier missed its deadline
  let timer: NodeJS.Timeout | undefined;

  function setHeard(samples: number): void {
    if (samples <= heard) return;
    heard = samples;
    options.played(generation, samples);
  }

  // A deadline for every sentence would make a bot pause that waits for its queue.
  function giveUp(samples: number): void {
    isSilent = true;
    setHeard(samples);
  }

  function begin(samples: number): void {
    clearTimeout(timer);
    era += 1;
    placed = samples;
    heard = samples;
  }

  return {
    place(samples, isLast) {
      if (!options.acknowledged) return setHeard(samples);
      placed = samples;
      options.send(`${era}:${samples}`);
      clearTimeout(timer);
      if (isSilent) return setHeard(samples);
      if (isLast) timer = setTimeout(() => giveUp(samples), ANSWER_MS);
    },
    returned(name) {
      const [, ofEra, samples] = OUR_NAME.exec(name) ?? [];
      if (samples !== undefined) isSilent = false;
      // No more can have been heard than was sent.
      if (Number(ofEra) === era && Number(samples) <= placed) setHeard(Number(samples));
    },
    rewind: begin,
    clear(next) {
      generation = next;
      begin(0);
    },
    stop: () => clearTimeout(timer),
  };
}
