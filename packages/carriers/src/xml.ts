/** Instructions as carriers take them; the lines inside are XML already. */
export function response(lines: readonly string[]): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n<Response>\n${lines.map((line) => `  ${line}\n`).join("")}</Response>\n`;
}

const PARAMETER_MAX_CHARS = 480; // name and value together within the carriers' 500

/** Streams the call both ways and passes the parameters on that have a value. */
export function connectStream(
  attributes: Record<string, string>,
  parameters: Record<string, string | undefined>,
): string {
  const inside = Object.entries(parameters).flatMap(([name, value]) =>
    value
      ? [`    <Parameter name="${name}" value="${escapeXml(value.slice(0, PARAMETER_MAX_CHARS))}"/>`]
      : [],
  );
  return response(["<Connect>", `  <Stream${written(attributes)}>`, ...inside, "  </Stream>", "</Connect>"]);
}

/** Transfers a call to another number. Carriers name SIP addresses differently. */
export function dialXml(to: string, callerId: string | undefined, sip: "User" | "Sip"): string {
  const target = to.startsWith("sip") ? sip : "Number";
  const caller = callerId === undefined ? "" : written({ callerId });
  return response([`<Dial${caller}><${target}>${escapeXml(to)}</${target}></Dial>`]);
}

export function written(attributes: Record<string, string>): string {
  return Object.entries(attributes)
    .map(([name, value]) => ` ${name}="${escapeXml(value)}"`)
    .join("");
}

export function escapeXml(text: string): string {
  return text
    .replace(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, "") // not allowed in XML at all
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&apos;");
}
