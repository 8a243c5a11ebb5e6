import { createResampler, parseWav } from "@vocalhost/audio";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export const RATE_HZ = 16_000;

/** A voice that reads aloud. */
export interface Voice {
  name: string;
  say(text: string): Int16Array;
}

const COMMANDS: [string, (text: string, file: string) => string[]][] = [
  ["flite slt", (text, file) => ["flite", "-voice", "slt", "-t", text, "-o", file]],
  ["flite rms", (text, file) => ["flite", "-voice", "rms", "-t", text, "-o", file]],
  ["espeak-ng en-us", (text, file) => ["espeak-ng", "-v", "en-us", "-s", "155", "-w", file, text]],
  ["espeak-ng en-gb+f3", (text, file) => ["espeak-ng", "-v", "en-gb+f3", "-s", "165", "-w", file, text]],
];

/** Voices of two programs that every distribution has; none where one of them is not installed. */
export function findVoices(): Voice[] {
  const isThere = ["flite", "espeak-ng"].every((program) => !spawnSync(program, ["--version"]).error);
  return isThere ? COMMANDS.map(([name, command]) => ({ name, say: (text) => speak(command, text) })) : [];
}

function speak(command: (text: string, file: string) => string[], text: string): Int16Array {
  const folder = mkdtempSync(join(tmpdir(), "bench-turns-"));
  try {
    const file = join(folder, "said.wav");
    const [program = "", ...args] = command(text, file);
    const { status, stderr } = spawnSync(program, args, { encoding: "utf8" });
    if (status !== 0) throw new Error(`${program} said nothing: ${stderr}`);
    const { samples, sampleRateHz } = parseWav(readFileSync(file));
    return trimmed(createResampler({ fromHz: sampleRateHz, toHz: RATE_HZ }).process(samples));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Without the silence before and after. */
function trimmed(samples: Int16Array): Int16Array {
  const loudest = samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
  const isLoud = (sample: number): boolean => Math.abs(sample) > loudest / 50;
  return samples.slice(Math.max(0, samples.findIndex(isLoud)), samples.findLastIndex(isLoud) + 1);
}
