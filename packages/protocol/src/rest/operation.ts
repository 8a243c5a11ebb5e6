import type { z } from "zod";

/**
 * One thing a caller can do: how it is asked for, who may, what is answered. The route, its documentation and the
 * client's method derive from it.
 */
export interface Operation {
  id: string;
  /** Under which the documentation shows it. */
  tag: string;
  summary: string;
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Under `/v1`. */
  path: string;
  /**
   * Whether the path exists under `/v1/organizations/{org}` too. `only`: just there, for other tools; the client has no
   * method for it. @default true
   */
  scoped?: boolean | "only";
  right: "view" | "manage" | "found" | "public";
  /** Parts of the path that may not be just any text. */
  params?: Record<string, z.ZodType<string>>;
  query?: z.ZodObject;
  body?: z.ZodType;
  /** Headers that mean something here; all others stay as they are. */
  headers?: z.ZodObject;
  answer: z.ZodType | TextAnswer | EventsAnswer;
  /** The first unless the handler says otherwise. @default [200] */
  statuses?: readonly number[];
  /** Statuses of refusals beside those that every operation has. */
  refusals?: readonly number[];
}

export interface TextAnswer {
  type: string;
  description: string;
}

/** Server-sent events, each with an id and JSON of this schema. */
export interface EventsAnswer {
  events: z.ZodType;
}

/** A resource's operations by the names of the client's methods. */
export type Operations = Record<string, Operation>;

export function operations<const T extends Record<string, Omit<Operation, "tag">>>(
  tag: string,
  records: T,
): { [K in keyof T]: T[K] & { tag: string } } {
  const tagged = Object.entries(records).map(([name, record]) => [name, { ...record, tag }]);
  return Object.fromEntries(tagged) as { [K in keyof T]: T[K] & { tag: string } };
}

/** Names of the variable parts of a path. */
export type PathName<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | PathName<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never;

export function pathNames(path: string): string[] {
  return [...path.matchAll(/:(\w+)/g)].map(([, name = ""]) => name);
}

/** The path under `/v1` that names the organisation as `:org`, where agents and keys have other names. */
export function scopedPath({ path, scoped = true }: Pick<Operation, "path" | "scoped">): string | undefined {
  if (!scoped) return undefined;
  const renamed = path.replace(/^\/agents(?=\/|$)/, "/services").replace(/^\/keys(?=\/|$)/, "/apiKeys");
  return `/organizations/:org${renamed}`;
}
