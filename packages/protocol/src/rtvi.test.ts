import assert from "node:assert/strict";
import { test } from "node:test";
import {
  clientMessages,
  parseRtviVersion,
  RTVI_VERSION,
  RtviMessage,
  type ClientMessageType,
} from "./rtvi.ts";

test("a version is three whole numbers", () => {
  const cases: [string, [number, number, number] | undefined][] = [
    ["2.1.0", [2, 1, 0]],
    ["0.0.0", [0, 0, 0]],
    ["10.20.30", [10, 20, 30]],
    ["999999.0.0", [999_999, 0, 0]],
    ["1000000.0.0", undefined],
    ["2.1", undefined],
    ["2.1.0.0", undefined],
    ["2.1.x", undefined],
    ["v2.1.0", undefined],
    ["2.1.0-beta", undefined],
    ["2.-1.0", undefined],
    [" 2.1.0", undefined],
    ["2.1.0\n", undefined],
    ["", undefined],
  ];
  for (const [text, expected] of cases) {
    const version = parseRtviVersion(text);
    assert.deepEqual(
      version && [version.major, version.minor, version.patch],
      expected,
      JSON.stringify(text),
    );
  }
});

test("our own version is one that clients can read", () => {
  assert.equal(parseRtviVersion(RTVI_VERSION)?.major, 2);
});

test("an envelope needs our label and a type", () => {
  const cases: [unknown, boolean][] = [
    [{ id: "1", label: "rtvi-ai", type: "client-ready", data: {} }, true],
    [{ label: "rtvi-ai", type: "x" }, true],
    [{ label: "rtvi-ai", type: "x", data: null, extra: 1 }, true],
    [{ label: "other", type: "x" }, false],
    [{ type: "x" }, false],
    [{ label: "rtvi-ai" }, false],
    [{ label: "rtvi-ai", type: 3 }, false],
    [{ id: 7, label: "rtvi-ai", type: "x" }, false],
    ["rtvi-ai", false],
    [null, false],
  ];
  for (const [message, valid] of cases)
    assert.equal(RtviMessage.safeParse(message).success, valid, JSON.stringify(message));
});

test("data of client messages", () => {
  const audio = { sampleRate: 16_000, numChannels: 1 };
  check("disconnect-bot", { valid: [undefined, {}, null, "bye"] });
  check("client-message", {
    valid: [{ t: "hello" }, { t: "hello", d: [1, { a: null }] }],
    invalid: [undefined, {}, { t: 1 }, "hello"],
  });
  check("send-text", {
    valid: [
      { content: "" },
      { content: "hi", options: null },
      { content: "hi", options: { run_immediately: false, audio_response: true } },
    ],
    invalid: [{}, { content: 1 }, { content: "hi", options: { run_immediately: "no" } }],
  });
  check("dtmf", {
    valid: [{ buttons: ["1", "#", "*"] }, { button: "0" }],
    invalid: [{}, { buttons: [] }, { buttons: ["12"] }, { buttons: ["A"] }, { button: "" }, { button: 1 }],
  });
  check("llm-function-call-result", {
    valid: [
      { function_name: "f", tool_call_id: "1", arguments: {}, result: {} },
      { function_name: "f", tool_call_id: "1", result: "text" },
    ],
    invalid: [{ function_name: "f" }, { tool_call_id: "1", result: 1 }],
  });
  check("ui-event", {
    valid: [{ event: "click" }, { event: "click", payload: 1 }],
    invalid: [{}, { event: 1 }],
  });
  check("ui-snapshot", { valid: [{ tree: { root: {} } }], invalid: [undefined] });
  check("ui-cancel-job-group", {
    valid: [{ job_id: "1" }, { job_id: "1", reason: null }, { job_id: "1", reason: "late" }],
    invalid: [{}, { job_id: 1 }],
  });
  check("append-to-context", {
    valid: [
      { role: "user", content: "x" },
      { role: "assistant", content: [], run_immediately: true },
    ],
    invalid: [{ role: "system", content: "x" }, { content: "x" }],
  });
  check("raw-audio", {
    valid: [{ ...audio, base64Audio: "AAA=" }],
    invalid: [audio, { ...audio, base64Audio: 1 }, { base64Audio: "", sampleRate: 16_000 }],
  });
  check("raw-audio-batch", {
    valid: [
      { ...audio, base64AudioBatch: [] },
      { ...audio, base64AudioBatch: ["AAA=", ""] },
    ],
    invalid: [
      { ...audio, base64AudioBatch: "AAA=" },
      { ...audio, base64AudioBatch: [1] },
    ],
  });
});

test("recorded audio has a rate that can be converted at a bounded cost", () => {
  for (const [sampleRate, valid] of [
    [8000, true],
    [44_100, true],
    [48_000, true],
    [7999, false],
    [48_001, false],
    [1, false],
    [16_000.5, false],
    ["16000", false],
  ] as const) {
    for (const type of ["raw-audio", "raw-audio-batch"] as const) {
      const data = { base64Audio: "", base64AudioBatch: [], sampleRate, numChannels: 1 };
      assert.equal(clientMessages[type].safeParse(data).success, valid, `${type} ${sampleRate}`);
    }
  }
});

test("a client that greets oddly is still greeted", () => {
  const about = { library: "x", platform_details: { browser: "y" } };
  const cases: [unknown, { version?: string; about?: object } | null | undefined][] = [
    [
      { version: "2.1.0", about },
      { version: "2.1.0", about },
    ],
    [undefined, undefined],
    [null, null],
    ["hello", undefined],
    [{}, {}],
    [{ version: null }, { version: undefined }],
    [
      { version: 2, about },
      { version: undefined, about },
    ],
    [
      { version: "2.1.0", about: "me" },
      { version: "2.1.0", about: undefined },
    ],
  ];
  for (const [data, expected] of cases)
    assert.deepEqual(clientMessages["client-ready"].parse(data), expected, JSON.stringify(data));
});

function check(type: ClientMessageType, cases: { valid: unknown[]; invalid?: unknown[] }): void {
  for (const data of cases.valid)
    assert.ok(clientMessages[type].safeParse(data).success, `${type} ${JSON.stringify(data)}`);
  for (const data of cases.invalid ?? [])
    assert.ok(!clientMessages[type].safeParse(data).success, `${type} ${JSON.stringify(data)}`);
}
