import type { z } from "zod";
import { request, stream, type ApiClientOptions, type Query } from "../api-request.ts";
import { pathNames, scopedPath, type EventsAnswer, type Operation, type Operations } from "./operation.ts";

/** Arguments of a method: the variable parts of the path in their order, then the body, then the query. */
export type Arguments<O extends Operation> = [
  ...PathArguments<O["path"]>,
  ...BodyArgument<O>,
  ...QueryArgument<O>,
];

/** JSON as it was promised, text, or events as they come. */
export type Answer<O extends Operation> = O extends { answer: { events: infer E extends z.ZodType } }
  ? AsyncGenerator<{ id: string; line: z.infer<E> }>
  : Promise<O extends { answer: infer A extends z.ZodType } ? z.infer<A> : string>;

/** A method for each operation that exists without an organisation in its path. */
export type Methods<T> = {
  [K in keyof T as T[K] extends { scoped: "only" } ? never : K]: T[K] extends Operation
    ? (...given: Arguments<T[K]>) => Answer<T[K]>
    : never;
};

/** For streams: where to go on, when to end, and what to call once the service has begun to answer. */
export interface Following {
  after?: string;
  signal?: AbortSignal;
  opened?: () => void;
}

type PathArguments<Path extends string> = Path extends `${string}:${string}/${infer Rest}`
  ? [name: string, ...PathArguments<`/${Rest}`>]
  : Path extends `${string}:${string}`
    ? [name: string]
    : [];

type BodyArgument<O> = O extends { body: infer B extends z.ZodType } ? [body: z.input<B>] : [];

type QueryArgument<O> = O extends { answer: EventsAnswer }
  ? [query?: QueryValues<O> & Following]
  : O extends { query: z.ZodObject }
    ? [query?: QueryValues<O>]
    : [];

type QueryValues<O> = O extends { query: infer Q extends z.ZodObject }
  ? { [K in keyof z.output<Q>]?: Plain<z.output<Q>[K]> }
  : unknown;

/** Flags of a query are words; callers say true or false. */
type Plain<T> = [T] extends ["true" | "false" | undefined] ? boolean : T;

interface Extras {
  headers?: Record<string, string>;
  /** Takes the path without the organisation. */
  unscoped?: true;
}

/** One for each operation, under its name there. */
export function methodsOf<T extends Operations>(options: ApiClientOptions, records: T): Methods<T> {
  const methods = Object.entries(records).map(([name, operation]) => [
    name,
    (...given: Arguments<Operation>) => callOperation(options, operation, given),
  ]);
  return Object.fromEntries(methods) as Methods<T>;
}

export function callOperation<O extends Operation>(
  options: ApiClientOptions,
  operation: O,
  given: Arguments<O>,
  { headers, unscoped }: Extras = {},
): Answer<O> {
  const { method, answer } = operation;
  const rest: unknown[] = [...given];
  const values = new Map([["org", options.organization]]);
  for (const name of pathNames(operation.path)) values.set(name, String(rest.shift()));
  const scoped = options.organization === undefined || unscoped ? undefined : scopedPath(operation);
  const path = (scoped ?? operation.path).replace(/:(\w+)/g, (_, name: string) =>
    encodeURIComponent(values.get(name) ?? ""),
  );
  const body = operation.body && rest.shift();
  const { after, signal, opened, ...query } = (rest.shift() ?? {}) as Query & Following;
  const asked = { method, path, query, body, headers };
  const answered =
    "events" in answer
      ? stream(options, { ...asked, schema: answer.events, after, signal, opened })
      : request(options, { ...asked, ...("safeParse" in answer ? { schema: answer } : { text: true }) });
  return answered as Answer<O>;
}
