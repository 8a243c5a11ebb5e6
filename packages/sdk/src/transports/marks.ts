/** Learns from the carrier how much of the bot's audio has been heard. */
export interface Marks {
  /** Asks to be told when everything sent so far has been played. */
  place(samples: number, isLast: boolean): void;
  returned(name: string): void;
  /** What was sent after so many samples will be sent again; what comes back of before is ignored. */
  rewind(samples: number): void;
  /** Everything is forgotten; what comes back of before is ignored. */
  clear(generation: number): void;
  stop(): void;
}

export interface MarksOptions {
  /** False: the other side never answers, so what was sent counts as heard. */
  acknowledged: boolean;
  send(name: string): void;
  played(generation: number, samples: number): void;
}

const OUR_NAME = /^(\d{1,15}):(\d{1,15})$/;
const ANSWER_MS = 3_000; // who keeps silent for so long counts as one who never answers, until it does

export function createMarks(options: MarksOptions): Marks {
  let generation = 0;
  let era = 0; // carriers give all marks back when their queue is emptied, heard or not
  let placed = 0;
  let heard = 0;
  let isSilent = false; // it has not answered when it had to
  let timer: NodeJS.Timeout | undefined;

  function setHeard(samples: number): void {
    if (samples <= heard) return;
    heard = samples;
    options.played(generation, samples);
  }

  // Waiting again for every sentence would make a bot stammer that waits for its queue.
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
      // Nobody can have heard more than was sent.
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
