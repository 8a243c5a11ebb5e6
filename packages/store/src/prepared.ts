import type { Compilable, CompiledQuery, DialectAdapter } from "kysely";
import type { Db } from "./store.ts";

type Query<Values, Row> = (
  db: Db,
  ...values: object extends Values ? [values?: Values] : [values: Values]
) => Compilable<Row>;

/**
 * A query that is built and compiled once and then only gets other values: building costs more than asking. What `build` is
 * given stands for the values, so it cannot look at them; where they have other names, as the columns of a change do, it
 * is built for these as well.
 */
export function prepared<Row, Values extends object = object>(
  build: (db: Db, values: Values) => Compilable<Row>,
): Query<Values, Row> {
  // One per kind of database: what is compiled for a store is right for every other one of its kind.
  const compiledBy = new Map<DialectAdapter["constructor"], Map<string, CompiledQuery<Row>>>();

  function compile(db: Db, names: string[]): CompiledQuery<Row> {
    const kind = db.getExecutor().adapter.constructor;
    const compiled = compiledBy.get(kind) ?? new Map<string, CompiledQuery<Row>>();
    compiledBy.set(kind, compiled);
    const key = names.join();
    const known = compiled.get(key);
    if (known) return known;
    const places = Object.fromEntries(names.map((name) => [name, new Place(name)]));
    const made = build(db, places as Values).compile();
    compiled.set(key, made);
    return made;
  }

  return (db, ...[values]) => ({
    compile() {
      const given = (values ?? {}) as Record<string, unknown>;
      const query = compile(db, Object.keys(given));
      const parameters = query.parameters.map((each) => (each instanceof Place ? given[each.name] : each));
      return { ...query, parameters };
    },
  });
}

const STEP = 1_024;

/**
 * The same for a list of ids, padded by repeating the last one: to a power of two, from 1,024 on to a multiple of that.
 * Otherwise lists of a thousand lengths would make a thousand statements.
 */
export function preparedList<Row>(
  build: (db: Db, ids: readonly string[]) => Compilable<Row>,
): (db: Db, ids: readonly string[]) => Compilable<Row> {
  const query = prepared((db, ids: Record<string, string>) => build(db, Object.values(ids)));
  return (db, ids) => {
    const last = ids.at(-1);
    if (last === undefined) return query(db, {});
    const { length: asked } = ids;
    const length = asked < STEP ? 2 ** Math.ceil(Math.log2(asked)) : Math.ceil(asked / STEP) * STEP;
    return query(db, Object.fromEntries(Array.from({ length }, (_, place) => [place, ids[place] ?? last])));
  };
}

/** Where a value goes. */
class Place {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}
