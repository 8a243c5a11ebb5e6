/** What a registry asks for when it answers 401. */
export type Challenge =
  | { scheme: "basic" }
  | { scheme: "bearer"; realm: string; service: string | undefined; scope: string | undefined };

/** Undefined if it is nothing we can answer. */
export function parseChallenge(header: string | null): Challenge | undefined {
  const [, scheme = "", rest = ""] = /^\s*([a-z]+)\s*(.*)$/is.exec(header ?? "") ?? [];
  if (/^basic$/i.test(scheme)) return { scheme: "basic" };
  if (!/^bearer$/i.test(scheme)) return undefined;
  const parameters = new Map<string, string>();
  for (const [, name = "", quoted, plain] of rest.matchAll(
    /([a-z_]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))/gi,
  ))
    parameters.set(name.toLowerCase(), quoted?.replace(/\\(.)/g, "$1") ?? plain ?? "");
  const realm = parameters.get("realm");
  if (!realm) return undefined;
  return { scheme: "bearer", realm, service: parameters.get("service"), scope: parameters.get("scope") };
}
