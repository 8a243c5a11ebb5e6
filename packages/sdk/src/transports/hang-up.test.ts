import {
  openStream,
  readCarrierAccounts,
  type CarrierAccounts,
  type CarrierMessage,
  type CarrierName,
  type CarrierStream,
} from "@vocalhost/carriers";
import assert from "node:assert/strict";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import { describe, test } from "node:test";
import { listenOnLoopback } from "../../../../testing/loopback-server.ts";
import { within } from "../../../../testing/wait.ts";
import { createCollectedLog } from "../testing/collected-log.ts";
import { hangUp } from "./hang-up.ts";

interface Case {
  carrier: CarrierName;
  start: CarrierMessage;
  /** Method, path, credentials and body of the expected request. */
  expected: { line: string; authorization: string; type: string | undefined; body: string };
  done: number;
  alreadyOver: { status: number; body: string };
  /** An answer that resembles `alreadyOver` but is a refusal. */
  refused: { status: number; body: string };
}

const basic = (text: string): string => `Basic ${Buffer.from(text).toString("base64")}`;

const CASES: Case[] = [
  {
    carrier: "twilio",
    start: { event: "start", start: { streamSid: "MZ1", callSid: "CA1", accountSid: "AC9" } },
    expected: {
      line: "POST /2010-04-01/Accounts/AC1/Calls/CA1.json",
      authorization: basic("AC1:twilio-secret"),
      type: "application/x-www-form-urlencoded",
      body: "Status=completed",
    },
    done: 200,
    alreadyOver: { status: 404, body: '{"code":20404,"message":"The requested resource was not found"}' },
    refused: { status: 404, body: "no such page" },
  },
  {
    carrier: "telnyx",
    start: { event: "start", stream_id: "st", start: { call_control_id: "v3:a/b+c=" } },
    expected: {
      line: "POST /v2/calls/v3%3Aa%2Fb%2Bc%3D/actions/hangup",
      authorization: "Bearer telnyx-secret",
      type: "application/json",
      body: "{}",
    },
    done: 200,
    alreadyOver: { status: 422, body: '{"errors":[{"code":"90018","title":"Call has already ended"}]}' },
    refused: { status: 422, body: '{"errors":[{"code":"10015","title":"Bad Request"}]}' },
  },
  {
    carrier: "plivo",
    start: { event: "start", start: { streamId: "st", callId: "5b2a-77" } },
    expected: {
      line: "DELETE /v1/Account/MA1/Call/5b2a-77/",
      authorization: basic("MA1:plivo-secret"),
      type: undefined,
      body: "",
    },
    done: 204,
    alreadyOver: { status: 404, body: '{"error":"not found"}' },
    refused: { status: 401, body: "Could not verify your access level" },
  },
];

for (const { carrier, start, expected, done, alreadyOver, refused } of CASES)
  describe(carrier, () => {
    const stream = open(carrier, start);

    test("the call is ended by one request", async () => {
      await using rest = await startRest((response) => response.writeHead(done).end());
      const { log, entries } = createCollectedLog();
      await hangUp(stream, rest.credentials, log);
      const [request, ...others] = rest.requests;
      assert.deepEqual(others, []);
      const { headers, ...sent } = request!;
      assert.deepEqual(sent, { line: expected.line, body: expected.body });
      assert.equal(headers.authorization, expected.authorization);
      assert.equal(headers["content-type"], expected.type);
      assert.deepEqual(entries, []);
    });

    test("a call that is over already is no problem", async () => {
      await using rest = await startRest((response) =>
        response.writeHead(alreadyOver.status).end(alreadyOver.body),
      );
      const { log, entries } = createCollectedLog();
      await hangUp(stream, rest.credentials, log);
      assert.deepEqual(entries, []);
    });

    for (const [what, answer] of [
      ["a refusal", refused],
      ["a failure", { status: 500, body: "x".repeat(100_000) }],
    ] as const)
      test(`${what} is logged without credentials and kept short`, async () => {
        await using rest = await startRest((response) => response.writeHead(answer.status).end(answer.body));
        const { log, entries } = createCollectedLog();
        await hangUp(stream, rest.credentials, log);
        assert.deepEqual(
          entries.map(({ level, message }) => [level, message]),
          [["warn", "carrier refused to hang up"]],
        );
        assert.equal(entries[0]!.fields["status"], answer.status);
        const line = JSON.stringify(entries);
        assert.ok(line.length < 600);
        assert.doesNotMatch(line, /secret/);
      });

    test("an address without a listener is logged, not thrown", async () => {
      const rest = await startRest(() => undefined);
      await rest[Symbol.asyncDispose]();
      await assertUnreachable(stream, rest.credentials, 2_000);
    });

    test("a connection that breaks off is logged, not thrown", async () => {
      await using rest = await startRest((response) => response.socket?.destroy());
      await assertUnreachable(stream, rest.credentials, 2_000);
    });

    test("without credentials nothing is asked", async () => {
      await using rest = await startRest((response) => response.end());
      const { log, messages } = createCollectedLog();
      const none = { ...rest.credentials, twilio: undefined, telnyx: undefined, plivo: undefined };
      await hangUp(stream, none, log);
      assert.deepEqual(rest.requests, []);
      assert.deepEqual(messages(), ["no credentials to hang up with, closing the socket"]);
    });
  });

test("carriers that are slow are given up on, before or within their answer", async () => {
  await using silent = await startRest(() => undefined);
  await using stuck = await startRest((response) => response.writeHead(200).write("{"));
  const startedMs = performance.now();
  await Promise.all(
    CASES.flatMap(({ carrier, start }) =>
      [silent, stuck].map((rest) => assertUnreachable(open(carrier, start), rest.credentials, 8_000)),
    ),
  );
  assert.ok(performance.now() - startedMs >= 4_500, "they are given time");
});

test("Exotel has no such request, and nothing to say about it", async () => {
  const start = { event: "start", start: { stream_sid: "st", call_sid: "ca", account_sid: "ac" } };
  const { log, entries } = createCollectedLog();
  await hangUp(open("exotel", start), readCarrierAccounts({}), log);
  assert.deepEqual(entries, []);
});

async function assertUnreachable(
  stream: CarrierStream,
  credentials: CarrierAccounts,
  quietMs: number,
): Promise<void> {
  const { log, entries } = createCollectedLog();
  await within(hangUp(stream, credentials, log), quietMs, "end of the attempt");
  assert.deepEqual(
    entries.map(({ level, message }) => [level, message]),
    [["warn", "carrier could not be asked to hang up"]],
  );
  assert.doesNotMatch(JSON.stringify(entries), /secret/);
}

function open(carrier: CarrierName, start: CarrierMessage): CarrierStream {
  const stream = openStream(carrier, start, new URLSearchParams());
  assert.ok(stream);
  return stream;
}

interface Rest extends AsyncDisposable {
  credentials: CarrierAccounts;
  requests: { line: string; headers: IncomingHttpHeaders; body: string }[];
}

/** Starts a carrier's REST interface with the given answer. */
async function startRest(answer: (response: ServerResponse) => void): Promise<Rest> {
  const requests: Rest["requests"] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (chunk: string) => (body += chunk));
    request.on("end", () => {
      requests.push({ line: `${request.method} ${request.url}`, headers: request.headers, body });
      answer(response);
    });
  });
  const listening = await listenOnLoopback(server);
  const { url } = listening;
  return {
    requests,
    credentials: readCarrierAccounts({
      TWILIO_ACCOUNT_SID: "AC1",
      TWILIO_AUTH_TOKEN: "twilio-secret",
      TELNYX_API_KEY: "telnyx-secret",
      PLIVO_AUTH_ID: "MA1",
      PLIVO_AUTH_TOKEN: "plivo-secret",
      TWILIO_API_URL: url,
      TELNYX_API_URL: url,
      PLIVO_API_URL: url,
    }),
    [Symbol.asyncDispose]: () => listening[Symbol.asyncDispose](),
  };
}
