// An agent of the hosted service calls a person with the account in its secrets, and hands the call on.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { carrierSecrets, startCarrierRest, type CarrierRest } from "../../testing/carrier-rest.ts";
import { startServiceProcess, type ServiceProcess } from "../harness/service-process.ts";
import { onlyChild, readXml } from "../../testing/read-xml.ts";
import { dial } from "../telephony/telephone.ts";
import { start } from "./hosted-calls.ts";

const ASKED = { to: "+12025550143", from: "+12025550199" };
const TRANSFER_TO = "+12025550177";
const BOT = `
import { createTransport, type RunnerArguments } from "vocalhost";

export async function bot(args: RunnerArguments) {
  const { audioIn, call } = await createTransport(args);
  console.log("answered by", call?.answeredBy);
  for await (const _ of audioIn) return call?.transfer((args.body as { transferTo: string }).transferTo);
}
`;

describe("calls of the hosted service", () => {
  let rest: CarrierRest;
  let service: ServiceProcess;
  before(async () => {
    rest = await startCarrierRest();
    const addresses = Object.entries(rest.environment).filter(([name]) => name.endsWith("_API_URL"));
    service = await startServiceProcess({ environment: Object.fromEntries(addresses) });
    for (const [secretKey, secretValue] of Object.entries(rest.environment))
      await service.api.secrets.put("phone", { secretKey, secretValue });
    await service.deploy({
      name: "caller",
      files: { "bot.ts": BOT },
      secretSet: "phone",
      autoScaling: { minAgents: 1, maxAgents: 2 },
    });
  });
  after(async () => {
    await service[Symbol.asyncDispose]();
    await rest[Symbol.asyncDispose]();
  });

  test("a private key may place calls, a public one may not", async () => {
    const refused = await start(service, "caller", { transport: "twilio", dialout: ASKED });
    assert.equal(refused.status, 403);
    assert.match(await refused.text(), /"DIALOUT_NOT_ALLOWED"/);
    await assert.rejects(
      service.publicApi.sessions.dialOut("caller", { transport: "twilio", ...ASKED }),
      /401|Unauthorized/,
    );
    assert.deepEqual([rest.done, rest.refused], [[], []]);
  });

  test("a person who answers is talked to and handed on; a repeated request places no second call", async () => {
    const preference = {
      transport: "plivo" as const,
      ...ASKED,
      machineDetection: true,
      body: { transferTo: TRANSFER_TO },
      idempotencyKey: randomUUID(),
    };
    const dialled = await service.api.sessions.dialOut("caller", preference);
    assert.equal(dialled.status, "dialling");
    assert.equal((await service.api.sessions.dialOut("caller", preference)).sessionId, dialled.sessionId);
    assert.deepEqual(rest.done, [`plivo calls ${ASKED.to} from ${ASKED.from}`]);

    const answer = await fetch(String(rest.requests[0]!.fields["answer_url"]), {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams({ From: ASKED.from, To: ASKED.to, Machine: "false" }),
    });
    assert.equal(answer.status, 200);
    const stream = onlyChild(readXml(await answer.text()), "Stream");
    const pairs = (stream.attributes["extraHeaders"] ?? "").split(",").map((pair) => pair.split("="));
    const parameters = Object.fromEntries(pairs) as Record<string, string>;
    const call = dial({ carrier: { name: "plivo" }, url: stream.text, parameters, toneHz: 440 });
    await call.ended();
    assert.equal(await service.sessionEnded(dialled.sessionId), "transferred");

    const [, transferred, ...more] = rest.done;
    assert.deepEqual(more, [], "and no side hung up");
    const address = / as (\S+) says$/.exec(transferred ?? "")?.[1] ?? "";
    assert.ok(address.startsWith(service.apiUrl), address);
    const instructions = readXml(await (await fetch(address, { method: "POST" })).text());
    assert.equal(onlyChild(onlyChild(instructions, "Dial"), "Number").text, TRANSFER_TO);
  });

  test("a call that the carrier refuses leaves no session behind, and shows no credentials", async () => {
    rest.refuseNext();
    const refusal = await service.api.sessions
      .dialOut("caller", { transport: "twilio", ...ASKED })
      .then(() => "", String);
    assert.match(refusal, /Twilio refused the call: HTTP 400, 21211 refused as told/);
    assert.doesNotMatch(refusal + service.output(), carrierSecrets);
    assert.doesNotMatch(service.output(), /calls\/answer[^"]*token/, "a token opens a call");
    const [row] = service.rows<{ state: string; endReason: string }>(
      "SELECT state, end_reason AS endReason FROM sessions WHERE transport = 'twilio'",
    );
    assert.deepEqual({ ...row }, { state: "expired", endReason: "call-refused" });
    const placed = service.rows<{ actor: string }>("SELECT actor FROM audit WHERE action = 'call-placed'");
    assert.equal(placed.length, 2);
  });

  test("questions of untrusted clients are answered with what they said, or not at all", async () => {
    const ask = (path: string) => fetch(`${service.apiUrl}/public/calls/${path}`, { method: "POST" });
    assert.equal((await ask("transfer?to=%2B1555%3CHangup%2F%3E")).status, 422);
    assert.equal((await ask("transfer")).status, 422);
    assert.equal((await ask("answer/exotel?token=x")).status, 400);
    assert.equal((await ask("answer/twilio?token=%22%3E%3CHangup%2F%3E")).status, 422);
    const xml = await (await ask("answer/twilio?token=x")).text();
    const stream = onlyChild(onlyChild(readXml(xml), "Connect"), "Stream");
    assert.match(stream.attributes["url"] ?? "", /\/ws\/twilio\/x$/);
  });
});
