/** Where somebody wanted to go before signing in; only ever inside this page. */
export function nextAddress(search: string): string {
  const next = new URLSearchParams(search).get("next")?.replace(/^"|"$/g, "") ?? "";
  return /^\/(?![/\\])[\x21-\x7e]*$/.test(next) && !next.startsWith("/sign-in") ? next : "/agents";
}
