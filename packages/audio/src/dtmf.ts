/** Keys of a telephone as the two tones each is made of; `w` is half a second of silence. */
export function dtmfTones(keys: string, { sampleRateHz }: { sampleRateHz: number }): Int16Array {
  const pieces = [...keys].map((key) =>
    key === "w" ? silence(PAUSE_MS, sampleRateHz) : tone(key, sampleRateHz),
  );
  const samples = new Int16Array(pieces.reduce((length, piece) => length + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    samples.set(piece, at);
    at += piece.length;
  }
  return samples;
}

const ROWS_HZ = [697, 770, 852, 941];
const COLUMNS_HZ = [1209, 1336, 1477, 1633];
const KEYPAD = ["123A", "456B", "789C", "*0#D"];
const TONE_MS = 160; // receivers want 40 at least; what the network cuts off at the edges is not missed
const GAP_MS = 80;
const PAUSE_MS = 500;
const AMPLITUDE = 8_000; // each tone; together they stay clear of clipping after G.711
const EDGE_MS = 2; // a hard edge clicks, which blurs the tones

function tone(key: string, sampleRateHz: number): Int16Array {
  const row = KEYPAD.findIndex((keys) => keys.includes(key));
  const low = ROWS_HZ[row];
  const high = COLUMNS_HZ[KEYPAD[row]?.indexOf(key) ?? -1];
  if (low === undefined || high === undefined) throw new RangeError(`"${key}" is no key of a telephone`);
  const soundSamples = Math.round((TONE_MS * sampleRateHz) / 1000);
  const edgeSamples = (EDGE_MS * sampleRateHz) / 1000;
  const samples = silence(TONE_MS + GAP_MS, sampleRateHz);
  for (let at = 0; at < soundSamples; at += 1) {
    const angle = (2 * Math.PI * at) / sampleRateHz;
    const edge = Math.min(1, (at + 1) / edgeSamples, (soundSamples - at) / edgeSamples);
    samples[at] = Math.round(AMPLITUDE * edge * (Math.sin(low * angle) + Math.sin(high * angle)));
  }
  return samples;
}

function silence(ms: number, sampleRateHz: number): Int16Array {
  return new Int16Array(Math.round((ms * sampleRateHz) / 1000));
}
