import type { TrackLevel } from "./media/messages.ts";

/** Finds the speakers from the levels of tracks in each interval. */
export interface Speakers {
  /** Takes one interval's levels; gives those whose state or loudness changed. */
  update(levels: readonly ParticipantLevel[]): Speaker[];
  /** The current speakers, loudest first. */
  active(): Speaker[];
  forget(participant: string): void;
}

export interface ParticipantLevel extends TrackLevel {
  participant: string;
}

export interface Speaker {
  participant: string;
  active: boolean;
  /** 0 to 1, in steps. */
  level: number;
}

const LOUD_SHARE_MIN = 0.4; // of an interval's packets; less is a cough
const SMOOTHING = 2 / 3; // weight of the newest interval
const STEPS = 8; // finer changes are not worth a message

export function createSpeakers(): Speakers {
  const smoothed = new Map<string, number>();
  const shown = new Map<string, number>();

  return {
    update(levels) {
      const loudest = new Map<string, number>();
      for (const { participant, ...level } of levels)
        loudest.set(participant, Math.max(loudest.get(participant) ?? 0, toLinear(level)));
      const changed: Speaker[] = [];
      for (const participant of new Set([...loudest.keys(), ...smoothed.keys()])) {
        const now = loudest.get(participant) ?? 0;
        const next = now === 0 ? 0 : now * SMOOTHING + (smoothed.get(participant) ?? now) * (1 - SMOOTHING);
        if (next > 0) smoothed.set(participant, next);
        else smoothed.delete(participant);
        const level = Math.ceil(next * STEPS) / STEPS;
        if (level === (shown.get(participant) ?? 0)) continue;
        if (level > 0) shown.set(participant, level);
        else shown.delete(participant);
        changed.push({ participant, active: level > 0, level });
      }
      return changed;
    },
    active: () =>
      [...shown]
        .map(([participant, level]) => ({ participant, active: true, level }))
        .toSorted((left, right) => right.level - left.level),
    forget(participant) {
      smoothed.delete(participant);
      shown.delete(participant);
    },
  };
}

function toLinear({ packets, loudPackets, loudness }: TrackLevel): number {
  return packets > 0 && loudPackets / packets >= LOUD_SHARE_MIN ? 10 ** (-loudness / 20) : 0;
}
