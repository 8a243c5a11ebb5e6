// The bot calls a person: asked over HTTP, placed over each carrier's REST interface, answered over its stream.
import assert from "node:assert/strict";
import { carrierNames, carriers, type CarrierName } from "@vocalhost/carriers";
import type { Dialled } from "@vocalhost/protocol";
import { after, beforeEach, describe, test } from "node:test";
import { carrierSecrets, startCarrierRest } from "../../testing/carrier-rest.ts";
import { call as http, type Answer } from "../harness/raw-http.ts";
import { assertRefused } from "../harness/refusal.ts";
import { startPhoneRunner } from "./phone-runner.ts";
import { onlyChild, readXml, type XmlElement } from "../../testing/read-xml.ts";
import { dial } from "./telephone.ts";
import { signed } from "./sign.ts";

const KEY = "dial-out-key-0123456789";
const ASKED = { to: "+12025550143", from: "+12025550199" };
// The address the runner tells carriers; only this test calls it.
const PUBLIC = "localhost";

describe("calls the bot places", async () => {
  const rest = await startCarrierRest();
  const runner = await startPhoneRunner({
    flags: ["--proxy", PUBLIC],
    environment: { ...rest.environment, VOCALHOST_DIALOUT_KEY: KEY },
  });
  after(async () => {
    await runner[Symbol.asyncDispose]();
    await rest[Symbol.asyncDispose]();
  });
  beforeEach(() => {
    rest.done.length = 0;
    rest.requests.length = 0;
  });

  const post = (path: string, body: object, key: string | undefined = KEY): Promise<Answer> =>
    http(runner.port, `POST ${path}`, {
      body: JSON.stringify(body),
      headers: {
        "content-type": "application/json",
        ...(key === "" ? {} : { authorization: `Bearer ${key}` }),
      },
    });
  /** The address on this machine behind one that carriers are told. */
  const here = (address: string): string =>
    address.replace(`wss://${PUBLIC}`, runner.socketUrl("")).replace(`https://${PUBLIC}`, "");

  /** Returns the instructions for the call, from the request or from the address it names. */
  async function instructions(name: CarrierName, fields: Record<string, string>): Promise<XmlElement> {
    const asked = rest.requests[0]!.fields;
    if (typeof asked["Twiml"] === "string") return readXml(asked["Twiml"]);
    const url = String(asked["Url"] ?? asked["answer_url"]);
    const form = new URLSearchParams(fields).toString();
    const answer = await runner.webhook(
      here(url),
      form,
      name === "telnyx" ? {} : await signature(name, url, form),
    );
    assert.equal(answer.status, 200, answer.body);
    return readXml(answer.body);
  }
  const signature = (name: CarrierName, url: string, form: string): Promise<Record<string, string>> =>
    signed(name, { url, form }, rest.environment[carriers[name].signature?.variable ?? ""] ?? "");

  async function streamOf(name: CarrierName, fields: Record<string, string>) {
    if (name === "exotel") return { url: String(rest.requests[0]!.fields["StreamUrl"]), parameters: {} };
    const response = await instructions(name, fields);
    const stream = onlyChild(name === "plivo" ? response : onlyChild(response, "Connect"), "Stream");
    if (name === "plivo") {
      const pairs = (stream.attributes["extraHeaders"] ?? "").split(",").map((pair) => pair.split("="));
      return { url: stream.text, parameters: Object.fromEntries(pairs) as Record<string, string> };
    }
    const parameters = stream.children.map(({ attributes }) => [attributes["name"], attributes["value"]]);
    return {
      url: stream.attributes["url"] ?? "",
      parameters: Object.fromEntries(parameters) as Record<string, string>,
    };
  }

  for (const name of carrierNames)
    test(`${name}: a person is called, and the bot talks to them once they answer`, async () => {
      const asked = { transport: name, ...ASKED, body: { mode: "goodbye" } };
      const answer = await post("/dialout", asked);
      assert.equal(answer.status, 200, answer.body);
      const dialled = answer.json() as Dialled;
      assert.equal(dialled.status, "dialling");
      assert.deepEqual(rest.done, [`${name} calls ${ASKED.to} from ${ASKED.from}`]);
      assert.deepEqual(await sessionsOf(dialled), [], "the bot has not begun");

      const { url, parameters } = await streamOf(name, { From: ASKED.from, To: ASKED.to });
      const call = dial({ carrier: { name }, url: here(url), parameters });
      const { summary } = await call.ended();
      assert.ok(summary.heard.audibleSeconds > 0);
      const record = await runner.record(call.details.ids.callId, ({ ended }) => ended !== null);
      assert.equal(record.sessionId, dialled.sessionId);
      assert.deepEqual(record.body, { mode: "goodbye" });
      assert.equal(record.callData?.answeredBy, undefined);
      assert.equal(rest.done.length, name === "exotel" ? 1 : 2, "the bot hung up");
    });

  const TOLD = [
    ["twilio", { AnsweredBy: "machine_start" }, "machine"],
    ["twilio", { AnsweredBy: "human" }, "human"],
    ["telnyx", { AnsweredBy: "not_sure" }, "unknown"],
    ["plivo", { Machine: "true" }, "machine"],
    ["plivo", { Machine: "false" }, "human"],
  ] as const;
  for (const [name, fields, answeredBy] of TOLD)
    test(`${name}: the bot knows that ${JSON.stringify(fields)} is ${answeredBy}`, async () => {
      const answer = await post("/start", {
        transport: name,
        body: { mode: "goodbye" },
        dialout: { ...ASKED, machineDetection: true, ringSecs: 20 },
      });
      assert.equal(answer.status, 200, answer.body);
      const { url, parameters } = await streamOf(name, fields);
      const call = dial({ carrier: { name }, url: here(url), parameters });
      const record = await runner.record(call.details.ids.callId);
      assert.equal(record.callData?.answeredBy, answeredBy);
      await call.ended();
    });

  async function sessionsOf({ sessionId }: Dialled): Promise<unknown[]> {
    return (await runner.calls()).filter((record) => record.sessionId === sessionId);
  }

  test("only the bearer of the key may place calls, in either way", async () => {
    for (const key of ["", "wrong-key-0123456789", `${KEY}x`]) {
      const asked = { transport: "twilio", ...ASKED };
      assertRefused(await post("/dialout", asked, key), "DIALOUT_NOT_ALLOWED");
      assertRefused(
        await post("/start", { transport: "twilio", dialout: ASKED }, key),
        "DIALOUT_NOT_ALLOWED",
      );
    }
    assert.deepEqual(rest.done, []);
  });

  test("an invalid number is refused before a phone rings", async () => {
    const { length: before } = rest.refused;
    for (const [asked, code] of [
      [{ ...ASKED, transport: "twilio", to: "5550100" }, "INVALID_REQUEST"],
      [{ ...ASKED, transport: "twilio", too: "x" }, "INVALID_REQUEST"],
      [{ ...ASKED, transport: "webrtc" }, "INVALID_REQUEST"],
      [{ to: ASKED.to, transport: "twilio" }, "GENERIC_BAD_REQUEST"],
      [{ ...ASKED, transport: "exotel", machineDetection: true }, "GENERIC_BAD_REQUEST"],
    ] as const)
      assertRefused(await post("/dialout", asked), code);
    assertRefused(await post("/start", { dialout: ASKED }), "INVALID_REQUEST");
    assert.deepEqual([rest.done, rest.refused.length], [[], before]);
  });

  test("a carrier's refusal is told in its words, without our credentials, and no session stays", async () => {
    rest.refuseNext();
    const answer = await post("/dialout", { transport: "plivo", ...ASKED });
    assertRefused(answer, "CARRIER_REFUSED");
    assert.match(answer.body, /Plivo refused the call: HTTP 400, 21211 refused as told/);
    assert.doesNotMatch(answer.body + runner.output(), carrierSecrets);
    assert.doesNotMatch(runner.output(), new RegExp(KEY));
    await runner.printed(/session ended.*reason=never-connected/);
  });
});

test("without a key, or where no carrier can reach it, a runner places no calls", async () => {
  await using rest = await startCarrierRest();
  const asked = {
    body: JSON.stringify({ transport: "twilio", ...ASKED }),
    headers: { "content-type": "application/json", authorization: `Bearer ${KEY}` },
  };
  {
    await using runner = await startPhoneRunner({ environment: rest.environment });
    const answer = await http(runner.port, "POST /dialout", asked);
    assertRefused(answer, "DIALOUT_NOT_ALLOWED");
    assert.match(answer.body, /VOCALHOST_DIALOUT_KEY/);
  }
  await using runner = await startPhoneRunner({
    environment: { ...rest.environment, VOCALHOST_DIALOUT_KEY: KEY },
  });
  const answer = await http(runner.port, "POST /dialout", asked);
  assertRefused(answer, "CARRIER_NOT_CONFIGURED");
  assert.match(answer.body, /--proxy/);
  assert.deepEqual(rest.done, []);
});
