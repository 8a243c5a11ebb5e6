import { AppError } from "@vocalhost/protocol";
import { writeAudit } from "../audit.ts";
import type { Change } from "../members.ts";
import type { OrganizationId } from "../principal.ts";
import type { Db, Store } from "@vocalhost/store/store";
import { readOrganization } from "./organizations.ts";

export interface Properties {
  defaultRegion: string;
}

export interface PropertiesSchema {
  defaultRegion: {
    type: "string";
    description: string;
    default: string;
    currentValue: string;
    readOnly: false;
    availableValues: string[];
  };
}

/** `regions`: codes; the first is the default. */
export async function readProperties(
  db: Db,
  organizationId: OrganizationId,
  regions: readonly string[],
): Promise<Properties> {
  const { properties } = await readOrganization(db, organizationId);
  return toProperties(properties, regions);
}

export async function readPropertiesSchema(
  db: Db,
  organizationId: OrganizationId,
  regions: readonly string[],
): Promise<PropertiesSchema> {
  return toSchema(await readProperties(db, organizationId, regions), regions);
}

export interface PropertiesChange extends Change {
  regions: readonly string[];
}

export async function changeProperties(
  store: Store,
  organizationId: OrganizationId,
  wanted: unknown,
  { regions, actor, nowMs }: PropertiesChange,
): Promise<PropertiesSchema> {
  const change = parseChange(wanted, regions);
  return await store.transaction(async (tx) => {
    const row = tx.selectFrom("organizations").selectAll().where("id", "=", organizationId);
    const { properties } = await store.forUpdate(row).executeTakeFirstOrThrow();
    const changed = { ...(JSON.parse(properties) as object), ...change };
    await tx
      .updateTable("organizations")
      .set({ properties: JSON.stringify(changed) })
      .where("id", "=", organizationId)
      .execute();
    await writeAudit(tx, {
      organizationId,
      at: nowMs,
      actor,
      action: "properties-changed",
      target: `organization:${organizationId}`,
      details: { ...change },
    });
    return toSchema(toProperties(JSON.stringify(changed), regions), regions);
  });
}

function parseChange(wanted: unknown, regions: readonly string[]): Properties {
  if (typeof wanted !== "object" || wanted === null || Array.isArray(wanted)) {
    throw badRequest("No properties provided");
  }
  const unknown = Object.keys(wanted).find((name) => name !== "defaultRegion");
  if (unknown !== undefined) throw badRequest(`Property '${unknown}' is not a valid property`);
  if (!("defaultRegion" in wanted)) throw badRequest("No properties provided");
  const { defaultRegion } = wanted;
  if (typeof defaultRegion !== "string" || !regions.includes(defaultRegion)) {
    throw badRequest(
      `Region '${String(defaultRegion)}' is not available. Available regions: ${regions.join(", ")}`,
    );
  }
  return { defaultRegion };
}

/** Drops a default region that is no longer configured. */
function toProperties(json: string, regions: readonly string[]): Properties {
  const { defaultRegion } = JSON.parse(json) as Partial<Properties>;
  if (defaultRegion !== undefined && regions.includes(defaultRegion)) return { defaultRegion };
  return { defaultRegion: regions[0] ?? "" };
}

function toSchema({ defaultRegion }: Properties, regions: readonly string[]): PropertiesSchema {
  return {
    defaultRegion: {
      type: "string",
      description: "Region of agents and secret sets that name none",
      default: regions[0] ?? "",
      currentValue: defaultRegion,
      readOnly: false,
      availableValues: [...regions],
    },
  };
}

function badRequest(message: string): AppError {
  return new AppError("GENERIC_BAD_REQUEST", { message });
}
