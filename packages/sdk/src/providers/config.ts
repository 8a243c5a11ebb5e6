/** A vendor's key: as given, or of the environment. Says which variable is missing. */
export function requireKey(given: string | undefined, variable: string, vendor: string): string {
  const key = given ?? process.env[variable];
  if (key) return key;
  throw new Error(
    `${vendor} needs a key. Set ${variable}, in the environment or in .env, or pass { apiKey } yourself.`,
  );
}

/** Where a vendor's service is, for proxies and for services that speak the same protocol. */
export function serviceUrl(given: string | undefined, variable: string, usual: string): string {
  return (given ?? (process.env[variable] || usual)).replace(/\/+$/, "");
}
