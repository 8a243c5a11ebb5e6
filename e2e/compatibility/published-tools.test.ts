import { WebSocketTransport } from "@pipecat-ai/websocket-transport";
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { until } from "../../testing/wait.ts";
import { startServiceProcess, type ServiceProcess } from "../harness/service-process.ts";
import { differences, filledIn, readRecordings, type Exchange } from "./recording.ts";

const ANSWER_MS = 20_000;

describe("published tools, as recorded, in the order they ran", () => {
  let service: ServiceProcess;
  let origin: string;
  const known = new Map<string, string>();

  before(async () => {
    service = await startServiceProcess();
    origin = new URL(service.apiUrl).origin;
    const [region] = (await service.api.regions()).regions;
    for (const [name, value] of Object.entries({
      origin,
      organization: service.organization,
      region: region?.code ?? "",
      privateKey: service.privateKey,
      publicKey: service.publicKey,
    }))
      known.set(`{${name}}`, value);
  });
  after(() => service[Symbol.asyncDispose]());

  for (const { command, exchanges } of readRecordings())
    test(command, async () => {
      for (const exchange of exchanges) await replay(exchange);
    });

  test("the WebSocket client takes the answer of a start as it is, and would take no id in it", async () => {
    const files = { "bot.ts": "export async function bot() {}" };
    await service.deploy({ name: "socket-bot", files });
    const start = async (transport: string): Promise<Record<string, unknown>> => {
      const response = await fetch(`${service.apiUrl}/public/socket-bot/start`, {
        method: "POST",
        headers: { authorization: `Bearer ${service.publicKey}`, "content-type": "application/json" },
        body: JSON.stringify({ transport }),
      });
      assert.equal(response.status, 200);
      const answer = (await response.json()) as Record<string, unknown>;
      return { ...answer, header: response.headers.get("x-vocalhost-session-id") };
    };
    const { _validateConnectionParams: taken } = WebSocketTransport.prototype;
    const { header, ...answer } = await start("websocket");
    assert.deepEqual(taken(answer), answer);
    assert.match(String(header), /^[0-9a-f-]{36}$/);
    // When this no longer throws, starts can answer the id beside the address.
    assert.throws(() => taken({ ...answer, sessionId: header }), /sessionId/);
    const call = await start("twilio");
    assert.equal(call["sessionId"], call["header"]);
  });

  test("a start that asks for Daily is told first that there is no account there", async () => {
    const response = await fetch(`${service.apiUrl}/public/socket-bot/start`, {
      method: "POST",
      headers: { authorization: `Bearer ${service.publicKey}`, "content-type": "application/json" },
      body: JSON.stringify({
        createDailyRoom: true,
        transport: "daily",
        dailyRoomProperties: { enable_recording: "cloud" },
      }),
    });
    const { code } = (await response.json()) as { code: string };
    assert.deepEqual([response.status, code], [400, "TRANSPORT_DISABLED"]);
  });

  /** Questions are asked until the answer is the recorded one: tools ask again, and people take their time between two. */
  async function replay(exchange: Exchange): Promise<void> {
    let found = await differencesOnce(exchange);
    if (found.length > 0 && exchange.method === "GET")
      await until(
        async () => (found = await differencesOnce(exchange)).length === 0,
        ANSWER_MS,
        "recorded answer",
      ).catch(() => undefined);
    assert.deepEqual(found, [], `${exchange.method} ${exchange.path}`);
  }

  async function differencesOnce(exchange: Exchange): Promise<string[]> {
    const { method, path, headers, body, form } = filledIn({ ...exchange, answer: undefined }, known);
    const response = await fetch(origin + path, {
      method,
      headers,
      ...(form ? { body: toForm(form) } : body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const told = new Map(known);
    const found = [
      ...(response.status === exchange.status ? [] : [`status: ${response.status}, not ${exchange.status}`]),
      ...(exchange.answer === undefined ? [] : differences(exchange.answer, JSON.parse(text), told)),
    ];
    if (found.length === 0) for (const [name, value] of told) known.set(name, value);
    return found;
  }
});

function toForm({ fields, file }: { fields: Record<string, string>; file: string }): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  form.append(
    "file",
    new Blob([Buffer.from(file, "base64")], { type: "application/gzip" }),
    "context.tar.gz",
  );
  return form;
}
