import { json, readSettings, wholeNumber, type Settings, type ValuesOf } from "@vocalhost/protocol";
import { z } from "zod";

const QUOTA_MAX = 1_000_000_000;
const quota = wholeNumber({ min: 0, max: QUOTA_MAX });

/** Quotas of one organisation. The defaults are generous; they stop a faulty script before the machine is full. */
export const quotaSettings = {
  agents: { name: "VOCALHOST_QUOTA_AGENTS", schema: quota.default(200), help: "agents" },
  instances: {
    name: "VOCALHOST_QUOTA_INSTANCES",
    schema: quota.default(500),
    help: "instances that exist, warm ones included",
  },
  builds: { name: "VOCALHOST_QUOTA_BUILDS", schema: quota.default(20), help: "builds that wait or run" },
  diskMib: {
    name: "VOCALHOST_QUOTA_DISK_MIB",
    schema: quota.default(50 * 1024),
    help: "MiB of uploads, unfinished ones included, and of builds",
  },
  startsPerSecond: {
    name: "VOCALHOST_QUOTA_STARTS_PER_SECOND",
    schema: quota.default(500),
    help: "starts a second of all its keys and people together; ten seconds' worth may come at once",
  },
} as const satisfies Settings;

export type Quotas = ValuesOf<typeof quotaSettings>;
export const defaultQuotas: Quotas = readSettings(quotaSettings, {});

const exception = z.number().int().min(0).max(QUOTA_MAX).optional();
const QuotaExceptions = z.record(
  z.string(),
  z.strictObject({
    ...{ agents: exception, instances: exception, builds: exception },
    ...{ diskMib: exception, startsPerSecond: exception },
  }),
);

export const quotaExceptionSettings = {
  exceptions: {
    name: "VOCALHOST_QUOTAS",
    schema: json(
      QuotaExceptions,
      '{"acme":{"agents":5,"instances":20,"builds":2,"diskMib":1024,"startsPerSecond":5}}',
    ).default({}),
    preset: "",
    help: 'exceptions as JSON, by the name of the organisation: `{"acme":{"agents":5,"instances":20,"builds":2,"diskMib":1024,"startsPerSecond":5}}`',
  },
} as const satisfies Settings;

/** Returns the quotas of the organisation with this name. */
export type QuotasOf = (organizationName: string) => Quotas;

export function createQuotas(
  defaults: Quotas,
  exceptions: Readonly<Record<string, Partial<Quotas>>> = {},
): QuotasOf {
  return (name) => ({ ...defaults, ...(Object.hasOwn(exceptions, name) ? exceptions[name] : {}) });
}
