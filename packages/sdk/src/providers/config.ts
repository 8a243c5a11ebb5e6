/** Returns a vendor's key, as given or from the environment. Throws an error that names the missing variable. */
export function requireKey(given: string | undefined, variable: string, vendor: string): string {
  const key = given ?? process.env[variable];
  if (key) return key;
  throw new Error(
    `${vendor} needs a key. Set ${variable}, in the environment or in .env, or pass { apiKey } yourself.`,
  );
}

/** Returns the URL of a vendor's service, for proxies and services with the same protocol. */
export function serviceUrl(given: string | undefined, variable: string, usual: string): string {
  return (given ?? (process.env[variable] || usual)).replace(/\/+$/, "");
}
