import type { AgentProfile, AudioFilter } from "@vocalhost/protocol";

export const filterOptions = [
  { value: "", label: "Off" },
  { value: "tel", label: "tel: audio up to 16 kHz" },
  { value: "pro", label: "pro: audio up to 32 kHz" },
] as const;

export function toFilterWord(filter: AudioFilter | null): string {
  return filter === null ? "Off" : filter;
}

export const profileOptions: { value: AgentProfile; label: string }[] = [
  { value: "agent-1x", label: "agent-1x: half a CPU, 1 GiB" },
  { value: "agent-2x", label: "agent-2x: one CPU, 2 GiB" },
  { value: "agent-3x", label: "agent-3x: one and a half CPUs, 3 GiB" },
];
