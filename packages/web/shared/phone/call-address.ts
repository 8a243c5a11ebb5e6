/** Where the media stream goes, from the answer of `POST /start`; undefined when it does not say. */
export function toCallAddress(answer: unknown): string | undefined {
  const { wsUrl, token } = (answer ?? {}) as { wsUrl?: unknown; token?: unknown };
  if (typeof wsUrl !== "string" || !URL.canParse(wsUrl)) return undefined;
  const url = new URL(wsUrl);
  if (!["ws:", "wss:"].includes(url.protocol)) return undefined;
  if (typeof token === "string" && token) {
    url.pathname = `${url.pathname.replace(/\/$/, "")}/${encodeURIComponent(token)}`;
  }
  return url.href;
}
