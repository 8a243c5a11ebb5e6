import { PatchProperties, Properties, PropertiesSchema } from "@vocalhost/protocol";
import {
  changeProperties,
  readProperties,
  readPropertiesSchema,
} from "../identity/organizations/properties.ts";
import { defineOperation, type Operation } from "./operation.ts";
import type { ApiPorts } from "./ports.ts";

const tag = "Properties";

export function propertyOperations(ports: ApiPorts): Operation[] {
  const { store, clock } = ports;
  const regions = ports.regions.map(({ code }) => code);
  return [
    defineOperation({
      id: "getProperties",
      tag,
      summary: "Properties of the organisation",
      method: "GET",
      path: "/properties",
      right: "view",
      answers: { 200: Properties },
      run: async ({ organizationId }) => ({
        properties: await readProperties(store.db, organizationId, regions),
      }),
    }),
    defineOperation({
      id: "getPropertiesSchema",
      tag,
      summary: "What the properties mean and may be",
      method: "GET",
      path: "/properties/schema",
      right: "view",
      answers: { 200: PropertiesSchema },
      run: async ({ organizationId }) => ({
        properties: await readPropertiesSchema(store.db, organizationId, regions),
      }),
    }),
    defineOperation({
      id: "changeProperties",
      tag,
      summary: "Change properties of the organisation",
      method: "PATCH",
      path: "/properties",
      right: "manage",
      body: PatchProperties,
      answers: { 200: PropertiesSchema },
      run: async ({ organizationId, body, actor }) => ({
        properties: await changeProperties(store, organizationId, body, {
          regions,
          actor,
          nowMs: clock.nowMs(),
        }),
      }),
    }),
  ];
}
