import { propertyOperations } from "@vocalhost/protocol";
import {
  changeProperties,
  readProperties,
  readPropertiesSchema,
} from "../identity/organizations/properties.ts";
import { handle, type Handled } from "./operation.ts";
import type { ApiPorts } from "./ports.ts";

export function handleProperties(ports: ApiPorts): Handled[] {
  const { store, clock } = ports;
  const regions = ports.regions.map(({ code }) => code);
  return handle(propertyOperations)({
    get: async ({ organizationId }) => ({
      properties: await readProperties(store.db, organizationId, regions),
    }),
    schema: async ({ organizationId }) => ({
      properties: await readPropertiesSchema(store.db, organizationId, regions),
    }),
    patch: async ({ organizationId, body, actor }) => ({
      properties: await changeProperties(store, organizationId, body, {
        regions,
        actor,
        nowMs: clock.nowMs(),
      }),
    }),
  });
}
