import assert from "node:assert/strict";
import { test } from "node:test";
import { createCallDetails } from "./request-call.ts";

const numbers = { from: "+12025550143", to: "*21#" };

test("the numbers go where the bot looks for them", () => {
  assert.deepEqual(createCallDetails({ carrier: "twilio", ...numbers }).parameters, {
    from_number: "+12025550143",
    to_number: "*21#",
  });
  assert.deepEqual(createCallDetails({ carrier: "plivo", ...numbers }).parameters, {
    from: "12025550143",
    to: "21",
  });
  for (const carrier of ["telnyx", "exotel"] as const) {
    const { from, to, parameters } = createCallDetails({ carrier, ...numbers });
    assert.deepEqual({ from, to, parameters }, { ...numbers, parameters: {} });
  }
});

test("every call has ids of its own", () => {
  const [first, second] = [
    createCallDetails({ carrier: "twilio", ...numbers }),
    createCallDetails({ carrier: "twilio", ...numbers }),
  ];
  assert.notEqual(first.ids.callId, second.ids.callId);
});
