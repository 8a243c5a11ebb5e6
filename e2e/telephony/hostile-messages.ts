import fc from "fast-check";

// Values that have broken parsers before: wrong types, objects that cannot become text, odd numbers, odd texts.
const hostileValue: fc.Arbitrary<unknown> = fc.oneof(
  fc.string({ unit: "binary", maxLength: 40 }),
  fc.constantFrom<unknown>(
    null,
    true,
    0,
    -1,
    1.5,
    1e308,
    Number.MAX_SAFE_INTEGER,
    "",
    ".",
    "..",
    "../../x",
    "0",
    "NaN",
    "Infinity",
    "-5",
    "\ud800",
    "\u0000",
    "__proto__",
    "constructor",
    "😀".repeat(200),
    "é".repeat(2_000),
    [],
    {},
    [[[]]],
    { toString: 1, valueOf: 1 },
    { length: 1e9 },
  ),
  fc.integer(),
  fc.double({ noDefaultInfinity: true, noNaN: true }),
  fc.array(fc.integer(), { maxLength: 5 }),
  fc.dictionary(fc.string({ maxLength: 8 }), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 4 }),
);

const payload = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.uint8Array({ maxLength: 400 }).map((bytes) => Buffer.from(bytes).toString("base64")),
  },
  { weight: 2, arbitrary: hostileValue },
  { weight: 1, arbitrary: fc.constantFrom("====", "!", "A", "/".repeat(90_000), "A".repeat(5_000)) },
);

const chunk = fc.oneof(
  fc.integer({ min: -5, max: 200 }),
  fc.integer({ min: -5, max: 200 }).map(String),
  hostileValue,
);

const media = fc.record(
  {
    track: fc.oneof(fc.constantFrom("inbound", "outbound", "inbound_track"), hostileValue),
    chunk,
    timestamp: chunk,
    payload,
  },
  { requiredKeys: [] },
);

const startFields = [
  ["streamSid", "callSid", "accountSid", "customParameters", "mediaFormat", "tracks"],
  ["call_control_id", "from", "to", "custom_parameters", "media_format", "client_state"],
  ["streamId", "callId", "accountId", "mediaFormat"],
  ["stream_sid", "call_sid", "account_sid", "custom_parameters", "media_format", "from", "to"],
].map((names) =>
  fc.record(Object.fromEntries(names.map((name) => [name, hostileValue])), { requiredKeys: [] }),
);

/** An object that looks like a carrier's message, with anything in it. */
const carrierLike = fc.record(
  {
    event: fc.oneof(
      fc.constantFrom(
        "connected",
        "start",
        "media",
        "dtmf",
        "mark",
        "playedStream",
        "clearedAudio",
        "error",
        "clear",
      ),
      hostileValue,
    ),
    streamSid: hostileValue,
    stream_id: hostileValue,
    sequenceNumber: chunk,
    start: fc.oneof(...startFields, hostileValue),
    media: fc.oneof(media, hostileValue),
    dtmf: fc.oneof(fc.record({ digit: hostileValue }), hostileValue),
    mark: fc.oneof(fc.record({ name: hostileValue }), hostileValue),
    name: hostileValue,
    payload: fc.oneof(
      fc.record({ code: hostileValue, title: hostileValue, detail: hostileValue }),
      hostileValue,
    ),
    extra_headers: hostileValue,
  },
  { requiredKeys: [] },
);

const text = fc.oneof(
  { weight: 6, arbitrary: carrierLike.map((message) => JSON.stringify(message)) },
  {
    weight: 2,
    arbitrary: fc.record({ event: fc.constant("media"), media }).map((message) => JSON.stringify(message)),
  },
  { weight: 1, arbitrary: fc.json({ maxDepth: 4 }) },
  { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 200 }).map((odd) => odd.toWellFormed()) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      "",
      "{",
      "[".repeat(10_000),
      '{"event":'.repeat(500),
      "null",
      '{"__proto__":{"x":1}}',
    ),
  },
);

/** Whole, cut short, doubled or with a byte changed. */
const mangled = fc
  .tuple(text, fc.nat(), fc.constantFrom("whole", "whole", "cut", "doubled", "changed"))
  .map(([whole, at, how]) => {
    const place = whole.length === 0 ? 0 : at % whole.length;
    if (how === "cut") return whole.slice(0, place).toWellFormed();
    if (how === "doubled") return whole + whole;
    if (how === "changed") return `${whole.slice(0, place)}\u0007${whole.slice(place + 1)}`.toWellFormed();
    return whole;
  });

/** Messages no carrier sends. None of them ends the call, so that all that follow are read. */
export function hostileMessages(count: number, seed: number): string[] {
  return fc.sample(
    mangled.filter((message) => !endsCall(message)),
    { numRuns: count, seed },
  );
}

function endsCall(message: string): boolean {
  if (!message.includes("stop")) return false;
  try {
    return (JSON.parse(message) as { event?: unknown } | null)?.event === "stop";
  } catch {
    return false;
  }
}
