import { z } from "zod";
import { AppError } from "../errors.ts";
import { restSettings } from "../rest/setting-values.ts";

/** Settings of an agent as other tools spell them, accepted beside ours. */
export const foreignSettings = {
  /** Same as `vendorViva`. */
  krispViva: restSettings.vendorViva,
  /** The platform the image was built for. Instances run on the machines of their region. */
  architecture: z.enum(["arm64", "amd64"]).nullish(),
};

type ForeignSettings = z.infer<z.ZodObject<typeof foreignSettings>>;
type VoiceSettings = ForeignSettings["krispViva"];

export interface Translated<Body> {
  body: Omit<Body, keyof ForeignSettings>;
  /** Settings of the request that have no meaning here. */
  warning: string | undefined;
}

/** The same request in our own words. */
export function translateSettings<Body extends ForeignSettings & { vendorViva?: VoiceSettings }>(
  request: Body,
): Translated<Body> {
  const { krispViva, architecture, ...body } = request;
  return {
    body: krispViva ? { ...body, vendorViva: oneOf(request.vendorViva, krispViva) } : body,
    warning: architecture
      ? `architecture '${architecture}' was ignored: instances run on the machines of their region.`
      : undefined,
  };
}

/** Fields that other tools expect in an agent's record. */
export function foreignRecord({ vendorViva }: { vendorViva: RecordedVoice }): { krispViva: RecordedVoice } {
  return { krispViva: vendorViva };
}

/** Fields that other tools expect in a manifest. */
export function foreignManifest({ nodeType }: { nodeType: "arm" }): { dailyNodeType: "arm" } {
  return { dailyNodeType: nodeType };
}

type RecordedVoice = { audioFilter: "tel" | "pro" | null } | null;

function oneOf(ours: VoiceSettings, theirs: VoiceSettings): VoiceSettings {
  const filters = [ours?.audioFilter, theirs?.audioFilter].filter((filter) => filter !== undefined);
  if (new Set(filters).size < 2) return { ...ours, ...theirs };
  const msg = "Must be the same as vendorViva.audioFilter, or left out";
  throw new AppError("GENERIC_BAD_REQUEST", {
    problems: [{ loc: ["body", "krispViva", "audioFilter"], msg, type: "custom" }],
  });
}
