/** Parses the typed `body`: nothing, a value, or an error with an explanation. */
export type StartBody =
  | { kind: "none" }
  | { kind: "value"; value: unknown }
  | { kind: "mistake"; message: string };

const BODY_MAX_BYTES = 4 * 1024; // a WebSocket start carries it in a URL when hosted

export function parseStartBody(text: string): StartBody {
  if (!text.trim()) return { kind: "none" };
  if (new TextEncoder().encode(text).length > BODY_MAX_BYTES) {
    return { kind: "mistake", message: "Too large: a start body is limited to 4 KB." };
  }
  try {
    return { kind: "value", value: JSON.parse(text) };
  } catch (error) {
    return { kind: "mistake", message: `Not valid JSON: ${reasonOf(error, text)}.` };
  }
}

/** Engines word the error differently: some name a position, some quote the whole text. */
function reasonOf(error: unknown, text: string): string {
  const message = error instanceof Error ? error.message : String(error);
  const reason = (message.split(/, "| in JSON|JSON\.parse: /).find(Boolean) ?? "").trim();
  const position = /position (\d+)/.exec(message);
  if (!position) return lowerFirst(reason);
  const before = text.slice(0, Number(position[1]));
  return `${lowerFirst(reason)} at line ${before.split("\n").length}`;
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}
