import assert from "node:assert/strict";
import { test } from "node:test";
import type { ConnectionEvent } from "../../shared/events/connection-event.ts";
import { emptyMetrics, nextMetrics, summarize } from "./bot-metrics.ts";

const got = (data: unknown): ConnectionEvent => ({
  type: "message-received",
  message: { type: "metrics", data },
  atMs: 0,
});

test("values are grouped by measurement and service, tokens add up", () => {
  const metrics = [
    got({
      ttfb: [{ processor: "LLM#0", value: 0.4 }],
      tokens: [{ prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 }],
    }),
    got({
      ttfb: [
        { processor: "LLM#0", value: 0.6 },
        { processor: "TTS#0", value: 0 },
      ],
    }),
    got({
      characters: [{ processor: "TTS#0", value: 57 }],
      tokens: [{ prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }],
    }),
  ].reduce(nextMetrics, emptyMetrics);
  assert.deepEqual(
    metrics.rows.map(({ name, processor, values }) => [name, processor, values]),
    [
      ["First byte", "LLM#0", [0.4, 0.6]],
      ["Characters", "TTS#0", [57]],
    ],
  );
  assert.deepEqual(metrics.tokens, { prompt: 11, completion: 3, total: 14 });
  assert.deepEqual(summarize(metrics.rows[0]!), { last: 0.6, typical: 0.5 });
});

test("odd data is ignored", () => {
  for (const data of [undefined, null, {}, { ttfb: "x" }, { ttfb: [{ processor: "A" }] }]) {
    assert.deepEqual(nextMetrics(emptyMetrics, got(data)).rows, []);
  }
});
