/** How much one organisation may have at a time. */
export interface Quotas {
  agents: number;
  /** That exist, whatever they do. */
  instances: number;
  /** Waiting or running. */
  builds: number;
  /** Of uploads and builds together. */
  diskMib: number;
  /** Whoever asks for them; ten seconds' worth may come at once. */
  startsPerSecond: number;
}

/** Enough for anybody who means well; a slip of a script ends here instead of on a full machine. */
export const defaultQuotas: Quotas = {
  agents: 200,
  instances: 500,
  builds: 20,
  diskMib: 50 * 1024,
  startsPerSecond: 500,
};

/** By the organisation's name. */
export type QuotasOf = (organizationName: string) => Quotas;

/** The same for everybody but those who are named. */
export function createQuotas(
  defaults: Quotas,
  exceptions: Readonly<Record<string, Partial<Quotas>>> = {},
): QuotasOf {
  return (name) => ({ ...defaults, ...(Object.hasOwn(exceptions, name) ? exceptions[name] : {}) });
}
