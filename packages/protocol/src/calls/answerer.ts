/** Who took the call, as far as the carrier can tell. */
export const answerers = ["human", "machine", "unknown"] as const;
export type Answerer = (typeof answerers)[number];

/** What a carrier's question tells of who answered; undefined when it says nothing of it. */
export function answererIn(fields: URLSearchParams): Answerer | undefined {
  const machine = fields.get("Machine"); // Plivo's
  if (machine !== null) return machine === "true" ? "machine" : "human";
  const answeredBy = fields.get("AnsweredBy");
  if (answeredBy === null) return undefined;
  if (answeredBy === "human") return "human";
  return /^(?:machine|fax)/.test(answeredBy) ? "machine" : "unknown";
}
