import type { Participant } from "./participant.ts";
import type { RoomLimits } from "./settings.ts";

export interface ProfileChange {
  name: string;
  metadata: string;
  /** An empty value takes the attribute away. */
  attributes: Record<string, string>;
}

/** Changes what is given and not empty; false when it is too large. */
export function changeProfile(participant: Participant, change: ProfileChange, limits: RoomLimits): boolean {
  const attributes = Object.fromEntries(
    Object.entries({ ...participant.attributes, ...change.attributes }).filter(([, value]) => value !== ""),
  );
  if (!fits({ ...change, attributes }, limits)) return false;
  if (change.name) participant.name = change.name;
  if (change.metadata) participant.metadata = change.metadata;
  participant.attributes = attributes;
  return true;
}

export function fits({ name, metadata, attributes }: ProfileChange, limits: RoomLimits): boolean {
  const attributeBytes = Object.entries(attributes).reduce(
    (sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value),
    0,
  );
  return (
    name.length <= limits.nameCharacters &&
    Buffer.byteLength(metadata) <= limits.metadataBytes &&
    attributeBytes <= limits.attributesBytes
  );
}
