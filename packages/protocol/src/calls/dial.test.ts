import {
  carrierNames,
  carriers,
  readCarrierAccounts,
  readCarrierAddresses,
  type CarrierAccounts,
  type CarrierName,
} from "@vocalhost/carriers";
import assert from "node:assert/strict";
import { test } from "node:test";
import { readXml } from "../../../../testing/read-xml.ts";
import { refusalOf } from "./carrier-request.ts";
import { answeredXml, Callee, Dialout, dialRequest, transferXml, type DialOrder } from "./dial.ts";

const ORDER: DialOrder = {
  to: "+15550100200",
  from: "+15550100201",
  streamUrl: "wss://bots.example.com/ws/t0ken",
  answerUrl: "https://bots.example.com/calls/answer/twilio?token=t0ken",
};
const VARIABLES = {
  TWILIO_ACCOUNT_SID: "AC1",
  TWILIO_AUTH_TOKEN: "twilio-auth-token",
  TELNYX_API_KEY: "telnyx-api-key",
  TELNYX_ACCOUNT_SID: "t/1",
  TELNYX_APPLICATION_ID: "app",
  PLIVO_AUTH_ID: "MA1",
  PLIVO_AUTH_TOKEN: "plivo-auth-token",
  EXOTEL_ACCOUNT_SID: "ex",
  EXOTEL_API_KEY: "key",
  EXOTEL_API_TOKEN: "exotel-token",
};

function accounts(variables: Record<string, string> = VARIABLES): CarrierAccounts {
  return readCarrierAccounts(variables, readCarrierAddresses({}));
}

test("each carrier is asked at its own address, and ids cannot lead elsewhere", () => {
  const urls = carrierNames.map((name) => dialRequest(name, accounts(), ORDER).url);
  assert.deepEqual(urls, [
    "https://api.twilio.com/2010-04-01/Accounts/AC1/Calls.json",
    "https://api.telnyx.com/v2/texml/Accounts/t%2F1/Calls",
    "https://api.plivo.com/v1/Account/MA1/Call/",
    "https://api.exotel.com/v1/Accounts/ex/Calls/connect.json",
  ]);
});

test("Twilio is told at once what to do, unless it is to find out who answers", () => {
  const fields = (order: DialOrder) => new URLSearchParams(dialRequest("twilio", accounts(), order).body);
  const plain = fields(ORDER);
  assert.equal(plain.get("Url"), null);
  assert.equal(
    readXml(plain.get("Twiml") ?? "").children[0]?.children[0]?.attributes["url"],
    ORDER.streamUrl,
  );
  const asking = fields({ ...ORDER, machineDetection: true, ringSecs: 20 });
  assert.deepEqual(
    ["Twiml", "Url", "MachineDetection", "Timeout"].map((name) => asking.get(name)),
    [null, ORDER.answerUrl, "Enable", "20"],
  );
});

test("without an account, a number or a way to do it, it is said what is missing", () => {
  for (const name of carrierNames)
    assert.throws(() => dialRequest(name, accounts({}), ORDER), {
      code: "CARRIER_NOT_CONFIGURED",
      message: new RegExp(`needs ${name.toUpperCase()}_\\w+(, ${name.toUpperCase()}_\\w+)* and `),
    });
  const { TELNYX_APPLICATION_ID: _, ...half } = VARIABLES;
  assert.throws(() => dialRequest("telnyx", accounts(half), ORDER), { code: "CARRIER_NOT_CONFIGURED" });
  const { from: __, ...nobody } = ORDER;
  assert.throws(() => dialRequest("plivo", accounts(), nobody), /dialout.from, or PLIVO_PHONE_NUMBER/);
  const numbered = accounts({ ...VARIABLES, PLIVO_PHONE_NUMBER: "+15550100777" });
  assert.match(dialRequest("plivo", numbered, nobody).body ?? "", /"from":"\+15550100777"/);
  assert.throws(() => dialRequest("exotel", accounts(), { ...ORDER, machineDetection: true }), /Exotel/);
});

test("whom one can call", () => {
  for (const to of ["+15550100200", "+442079460000", "sip:desk@example.com", "sips:a.b+c@pbx.example.com"])
    assert.ok(Callee.safeParse(to).success, to);
  for (const to of [
    "",
    "15550100200",
    "+0555",
    "+1 555",
    "+1555;ext=1",
    "sip:a b@c",
    "sip:@c",
    "tel:+1",
    "*31#",
  ])
    assert.ok(!Callee.safeParse(to).success, to);
  assert.ok(!Dialout.safeParse({ to: "+15550100200", ringSecs: 600 }).success);
  assert.ok(
    !Dialout.safeParse({ to: "+15550100200", machinedetection: true }).success,
    "a typo costs a call",
  );
});

test("who answered, in every carrier's words", () => {
  const cases: [string, string | undefined][] = [
    ["AnsweredBy=human", "human"],
    ["AnsweredBy=machine_start", "machine"],
    ["AnsweredBy=machine_end_beep", "machine"],
    ["AnsweredBy=fax", "machine"],
    ["AnsweredBy=machine", "machine"],
    ["AnsweredBy=not_sure", "unknown"],
    ["AnsweredBy=unknown", "unknown"],
    ["Machine=true", "machine"],
    ["Machine=false", "human"],
    ["From=%2B1", undefined],
  ];
  for (const [form, expected] of cases) {
    const name: CarrierName = form.startsWith("Machine") ? "plivo" : "twilio";
    assert.equal(carriers[name].answererIn(new URLSearchParams(form)), expected, form);
  }
});

test("questions are answered from themselves, and nothing in them becomes XML", () => {
  const where = { address: "wss://bots.example.com/ws", token: "a.b-c_d~e" };
  const fields = new URLSearchParams({ From: '"><Hangup/>', AnsweredBy: "human" });
  const stream = readXml(answeredXml("twilio", where, fields)).children[0]?.children[0];
  assert.equal(stream?.attributes["url"], "wss://bots.example.com/ws/a.b-c_d~e");
  assert.deepEqual(
    stream?.children.map(({ attributes }) => attributes["value"]),
    ['"><Hangup/>', "human"],
  );
  for (const token of [undefined, "", "a/b", "a b", '"', ["x"], "x".repeat(2_049)])
    assert.throws(() => answeredXml("plivo", { ...where, token }, fields), { code: "INVALID_REQUEST" });
  const dial = readXml(transferXml({ to: "+15550100200", callerId: "+15550100201" })).children[0];
  assert.deepEqual(dial?.attributes, { callerId: "+15550100201" });
  assert.deepEqual([dial?.children[0]?.name, dial?.children[0]?.text], ["Number", "+15550100200"]);
  for (const query of [{}, { to: "<Hangup/>" }, { to: "+15550100200", callerId: '"/>' }, { to: ["+1"] }])
    assert.throws(() => transferXml(query), { code: "INVALID_REQUEST" });
});

test("a refusal is short, in the carrier's words, and never shows what lets us in", () => {
  const request = dialRequest("twilio", accounts(), ORDER);
  const told = (text: string, status = 400): string =>
    refusalOf(request, { status, text }, "the call").message;
  assert.equal(
    told('{"code":21211,"message":"Invalid \'To\'"}'),
    "Twilio refused the call: HTTP 400, 21211 Invalid 'To'",
  );
  assert.match(told('{"errors":[{"code":"10015","detail":"Bad"}]}', 422), /HTTP 422, 10015 Bad$/);
  assert.match(told('{"RestException":{"Code":34001,"Message":"No"}}', 403), /HTTP 403, 34001 No$/);
  for (const text of ["", "<html>", "null", "[]", '"x"', "{"]) assert.match(told(text, 500), /HTTP 500$/);
  const echo = JSON.stringify({
    message: `${request.headers["authorization"]} twilio-auth-token ${"x".repeat(999)}`,
  });
  assert.doesNotMatch(told(echo), /twilio-auth-token|QUMx/);
  assert.ok(told(echo).length < 300);
  assert.ok(![...told('{"message":"a\\u001b[31m\\nb"}')].some((character) => character < " "));
});
