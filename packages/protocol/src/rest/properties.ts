import { z } from "zod";
import { operations } from "./operation.ts";

export const Properties = z.object({ properties: z.object({ defaultRegion: z.string() }) });
export type Properties = z.infer<typeof Properties>;

export const PropertiesSchema = z.object({
  properties: z.object({
    defaultRegion: z.object({
      type: z.literal("string"),
      description: z.string(),
      default: z.string(),
      currentValue: z.string(),
      readOnly: z.literal(false),
      availableValues: z.array(z.string()),
    }),
  }),
});
export type PropertiesSchema = z.infer<typeof PropertiesSchema>;

/** `{ defaultRegion }`; every other key is refused by name. */
export const PatchProperties = z.record(z.string(), z.unknown());
export type PatchProperties = z.infer<typeof PatchProperties>;

export const propertyOperations = operations("Properties", {
  get: {
    id: "getProperties",
    summary: "Properties of the organisation",
    method: "GET",
    path: "/properties",
    right: "view",
    answer: Properties,
  },
  schema: {
    id: "getPropertiesSchema",
    summary: "What the properties mean and may be",
    method: "GET",
    path: "/properties/schema",
    right: "view",
    answer: PropertiesSchema,
  },
  patch: {
    id: "changeProperties",
    summary: "Change properties of the organisation",
    method: "PATCH",
    path: "/properties",
    right: "manage",
    body: PatchProperties,
    answer: PropertiesSchema,
  },
});
