import { z } from "zod";
import { agentSettings, type AgentSetting, type AgentSettings, type SettingKey } from "./agent-settings.ts";

type Row = AgentSettings[SettingKey];
type Place = "rest" | "toml";
type TopLevel<At extends Place> = Extract<Row, { [Key in At]: readonly [string] }>;
type Nested<At extends Place> = Extract<Row, { [Key in At]: readonly [string, string] }>;
type NestedIn<At extends Place, Table> = Extract<Row, { [Key in At]: readonly [Table, string] }>;
type Nullish<Schema extends z.ZodType> = z.ZodOptional<z.ZodNullable<Schema>>;

/** The value of a setting. */
export type SettingValue<Key extends SettingKey> = ValueOf<AgentSettings[Key]>;
type ValueOf<R extends Row> = z.infer<R["schema"]> | (R extends { cleared: string } ? null : never);

/** All settings of a deployment, or of the agent itself. */
export type SettingValues<Of extends AgentSetting["of"]> = {
  [Key in SettingKey as AgentSettings[Key]["of"] extends Of ? Key : never]: SettingValue<Key>;
};

/** Keys and rows of the table, those of an agent's own settings or of its deployments'. */
export function settingsOf<Of extends AgentSetting["of"]>(of: Of): [keyof SettingValues<Of>, AgentSetting][] {
  const rows: [string, AgentSetting][] = Object.entries(agentSettings);
  return rows.filter(([, row]) => row.of === of) as [keyof SettingValues<Of>, AgentSetting][];
}

export function defaultValues<Of extends AgentSetting["of"]>(of: Of): SettingValues<Of> {
  return Object.fromEntries(settingsOf(of).map(([key, row]) => [key, row.default])) as SettingValues<Of>;
}

/** In REST bodies: `null` counts as left out, except where it clears. */
export type RestSettings = {
  [R in TopLevel<"rest"> as R["rest"][0]]: Nullish<R["schema"]>;
} & {
  [Table in Nested<"rest">["rest"][0]]: Nullish<
    z.ZodObject<{ [R in NestedIn<"rest", Table> as R["rest"][1]]: Nullish<R["schema"]> }, z.core.$strict>
  >;
};

export const restSettings = nested("rest", {
  leaf: ({ schema }) => schema.nullish(),
  table: (shape) => z.strictObject(shape).nullish(),
}) as RestSettings;

/** In `vocalhost.toml`: what is not there stays as it is deployed. */
export type TomlSettings = {
  [R in TopLevel<"toml"> as R["toml"][0]]: z.ZodOptional<R["schema"]>;
} & {
  [Table in Nested<"toml">["toml"][0]]: z.ZodOptional<
    z.ZodObject<
      { [R in NestedIn<"toml", Table> as R["toml"][1]]: z.ZodOptional<R["schema"]> },
      z.core.$strict
    >
  >;
};

export const tomlSettings = nested("toml", {
  leaf: ({ schema, tomlSchema }) => (tomlSchema ?? schema).optional(),
  table: (shape) => z.strictObject(shape).optional(),
}) as TomlSettings;

/** A value that was accepted once is read again whatever the bounds are by then. */
type Accepted<R extends Row> = R["schema"] extends z.ZodEnum ? R["schema"] : z.ZodType<z.infer<R["schema"]>>;
type Stored<R extends Row> = R extends { cleared: string } ? z.ZodNullable<Accepted<R>> : Accepted<R>;

export type StoredSettings = {
  [Key in SettingKey as AgentSettings[Key]["of"] extends "deployment" ? Key : never]: z.ZodDefault<
    Stored<AgentSettings[Key]>
  >;
};

/** In a deployment's spec; a setting younger than the deployment has its default. */
export const storedSettings = Object.fromEntries(
  settingsOf("deployment").map(([key, row]) => [key, accepted(row).default(row.default as never)]),
) as StoredSettings;

type DeploymentRow = Extract<Row, { of: "deployment" }>;
type LastOf<Path> = Path extends readonly [...unknown[], infer Last extends string] ? Last : never;

/** A deployment's settings as REST reports them, each under the last name of its path. An older service knows fewer. */
export type ToldSettings = { [R in DeploymentRow as LastOf<R["rest"]>]: z.ZodDefault<Stored<R>> };

export const toldSettings = Object.fromEntries(
  settingsOf("deployment").map(([, row]) => [settingName(row), accepted(row).default(row.default as never)]),
) as ToldSettings;

export type SettingName = LastOf<Row["rest"]>;

/** The last name of its path in REST. */
export function settingName({ rest }: Pick<AgentSetting, "rest">): SettingName {
  return rest.at(-1) as SettingName;
}

/** A value as it crosses the wire; undefined if it is not set. */
export type SettingScalar = string | number | boolean | null | undefined;

/** The value at the path of a setting; undefined where there is none. */
export function readAt(body: object, [first, second]: AgentSetting["rest"]): SettingScalar {
  const value = (body as Record<string, unknown>)[first];
  if (second === undefined) return value as SettingScalar;
  return typeof value === "object" && value !== null
    ? (value as Record<string, SettingScalar>)[second]
    : undefined;
}

/** A body with the values at the paths of their settings; undefined ones leave no trace. */
export function placeAt(values: Iterable<[AgentSetting["rest"], unknown]>): Record<string, unknown> {
  const body: Record<string, unknown> = {};
  for (const [[first, second], value] of values) {
    if (value === undefined) continue;
    body[first] = second === undefined ? value : { ...(body[first] as object | undefined), [second]: value };
  }
  return body;
}

function nested(
  place: Place,
  make: { leaf(row: AgentSetting): z.ZodType; table(shape: Record<string, z.ZodType>): z.ZodType },
): Record<string, z.ZodType> {
  const shape: Record<string, z.ZodType> = {};
  const tables: Record<string, Record<string, z.ZodType>> = {};
  for (const row of Object.values<AgentSetting>(agentSettings)) {
    const [first, second] = row[place];
    if (second === undefined) shape[first] = make.leaf(row);
    else shape[first] = make.table((tables[first] = { ...tables[first], [second]: make.leaf(row) }));
  }
  return shape;
}

function accepted({ schema, cleared }: AgentSetting): z.ZodType {
  const plain =
    schema instanceof z.ZodNumber ? z.number().int() : schema instanceof z.ZodString ? z.string() : schema;
  return cleared === undefined ? plain : plain.nullable();
}
