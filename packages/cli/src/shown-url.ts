/** An address as it may be shown and logged: without passwords and tokens. */
export function shownUrl(address: string): string {
  const url = new URL(address);
  if (url.password !== "") url.password = "…";
  if (url.searchParams.has("token")) url.searchParams.set("token", "…");
  url.pathname = url.pathname.replace(/\/[^/]{40,}$/, "/…");
  return url.href.replaceAll("%E2%80%A6", "…");
}
