/** Who took the call, as far as the carrier can tell. */
export const answerers = ["human", "machine", "unknown"] as const;
export type Answerer = (typeof answerers)[number];

/** The answer in the field that Twilio named and others took over. */
export function answeredByField(fields: URLSearchParams): Answerer | undefined {
  const answeredBy = fields.get("AnsweredBy");
  if (answeredBy === null) return undefined;
  if (answeredBy === "human") return "human";
  return /^(?:machine|fax)/.test(answeredBy) ? "machine" : "unknown";
}
