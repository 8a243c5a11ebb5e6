/**
 * What reaches a telephone of a sound at the other end of a room: no direct sound, only what the walls return. For sounds
 * that go on for ever, so the end of a loop still sounds at its beginning.
 */
export function acrossTheRoom(
  loop: Float32Array,
  { sampleRateHz, reverberationS }: { sampleRateHz: number; reverberationS: number },
): Float32Array {
  const sound = new Float32Array(2 * loop.length); // the first round fills the room
  for (const delayS of WALLS_S) {
    const delay = Math.round(delayS * sampleRateHz);
    const kept = 10 ** ((-3 * delayS) / reverberationS);
    const memory = new Float32Array(delay);
    let soft = 0;
    for (let at = 0; at < sound.length; at++) {
      const returned = memory[at % delay]!;
      soft = 0.6 * returned + 0.4 * soft; // walls swallow the highs first
      memory[at % delay] = loop[at % loop.length]! + kept * soft;
      sound[at] = sound[at]! + returned;
    }
  }
  for (const delayS of SCATTER_S) scatter(sound, Math.round(delayS * sampleRateHz));
  return sound.slice(loop.length);
}

/** Spreads every echo over time without changing its colour. */
function scatter(sound: Float32Array, delay: number): void {
  const memory = new Float32Array(delay);
  for (let at = 0; at < sound.length; at++) {
    const before = memory[at % delay]!;
    const now = before - SPREAD * sound[at]!;
    memory[at % delay] = sound[at]! + SPREAD * now;
    sound[at] = now;
  }
}

const WALLS_S = [0.0297, 0.0371, 0.0411, 0.0437, 0.0503, 0.0571]; // no two have a common multiple nearby
const SCATTER_S = [0.005, 0.0017];
const SPREAD = 0.7;
