import type { Compilable, CompiledQuery, DialectAdapter } from "kysely";
import type { Db } from "./store.ts";

/**
 * A query that is built and compiled once and then only gets other values: building costs more than asking. What `build` is
 * given stands for the values, so it cannot look at them; where they have other names, as the columns of a change do, it
 * is built for these as well.
 */
export function prepared<Values extends object, Row>(
  build: (db: Db, values: Values) => Compilable<Row>,
): (db: Db, values: Values) => Compilable<Row> {
  const compiledBy = new WeakMap<DialectAdapter, Map<string, CompiledQuery<Row>>>();

  function compile(db: Db, names: string[]): CompiledQuery<Row> {
    const { adapter } = db.getExecutor();
    const compiled = compiledBy.get(adapter) ?? new Map<string, CompiledQuery<Row>>();
    compiledBy.set(adapter, compiled);
    const key = names.join();
    const known = compiled.get(key);
    if (known) return known;
    const places = Object.fromEntries(names.map((name) => [name, new Place(name)]));
    const made = build(db, places as Values).compile();
    compiled.set(key, made);
    return made;
  }

  return (db, values) => ({
    compile() {
      const query = compile(db, Object.keys(values));
      const given = values as Record<string, unknown>;
      const parameters = query.parameters.map((each) => (each instanceof Place ? given[each.name] : each));
      return { ...query, parameters };
    },
  });
}

/** Where a value goes. */
class Place {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}
