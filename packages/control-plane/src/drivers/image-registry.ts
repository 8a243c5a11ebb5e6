/** The registry's `host[:port]` if the reference names one. */
export function registryOf(reference: string): string | undefined {
  const [first = "", ...rest] = reference.split("/");
  if (rest.length === 0) return undefined;
  return first.includes(".") || first.includes(":") || first === "localhost" ? first : undefined;
}

/** Inside our own network, where a pull would reach what callers must not. */
export function isInternalRegistry(registry: string): boolean {
  const host = registry.replace(/:[0-9]+$/, "").toLowerCase();
  if (/^[0-9.]+$/.test(host)) return true; // addresses by number, in whatever notation
  if (!host.includes(".")) return true;
  return /\.(local|localhost|internal|intranet|lan|home|corp|svc|cluster)\.?$/.test(host);
}
