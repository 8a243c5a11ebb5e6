import {
  carrierAsking,
  carrierNames,
  carriers,
  checkSignature,
  type CarrierName,
  type SignedRequest,
} from "@vocalhost/carriers";
import { answeredXml, AppError, askingCarrier, transferAsker, transferXml } from "@vocalhost/protocol";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { SessionHost } from "./door.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** Marks routes for carriers, which send forms; a signature replaces the checks for browsers. */
    webhook?: boolean;
  }
}

interface WebhookRequest {
  Querystring: { transport?: string };
  Body: string | undefined;
}

const WEBHOOK_MAX_BYTES = 64 * 1024;

/** `POST /`: answers a carrier's webhook with the instruction to stream the call to us. */
export function mountCarrierWebhook(server: SessionHost): void {
  void server.app.register(async (scope: FastifyInstance) => {
    scope.removeAllContentTypeParsers();
    // Signatures cover the exact bytes of the body.
    scope.addContentTypeParser(
      "*",
      { parseAs: "string", bodyLimit: WEBHOOK_MAX_BYTES },
      (_request, body, done) => done(null, body),
    );
    scope.post<WebhookRequest>("/", { config: { webhook: true } }, async (request, reply) => {
      const fields = formFields(request);
      const carrier = chooseCarrier(server, request, fields);
      await requireSignature(server, request, carrier);
      return answer(server, request, reply, carrier, fields);
    });
    mountCallQuestions(scope, server);
  });
}

interface AnswerRequest {
  Body: string | undefined;
  Params: { carrier: string };
  Querystring: { token?: string };
}

interface TransferRequest {
  Body: string | undefined;
  Querystring: { to?: string; callerId?: string };
}

/** Answers carriers that ask what to do with a placed or transferred call. The query holds everything needed. */
function mountCallQuestions(scope: FastifyInstance, server: SessionHost): void {
  const options = { config: { webhook: true } };
  scope.post<AnswerRequest>("/calls/answer/:carrier", options, async (request, reply) => {
    const carrier = askingCarrier(request.params.carrier);
    await requireSignature(server, request, carrier);
    const address = `${server.socketBase(request)}/ws`;
    return sendXml(reply, answeredXml(carrier, { address, token: request.query.token }, formFields(request)));
  });
  scope.post<TransferRequest>("/calls/transfer", options, async (request, reply) => {
    if (transferAsker) await requireSignature(server, request, transferAsker);
    return sendXml(reply, transferXml(request.query));
  });
}

function sendXml(reply: FastifyReply, xml: string): FastifyReply {
  return reply.type("application/xml; charset=utf-8").send(xml);
}

function answer(
  server: SessionHost,
  request: FastifyRequest<WebhookRequest>,
  reply: FastifyReply,
  carrier: CarrierName,
  fields: URLSearchParams,
): FastifyReply {
  const url = streamAddress(server, request, carrier);
  const stream = { url, from: fields.get("From") ?? undefined, to: fields.get("To") ?? undefined };
  const xml = carriers[carrier].answerXml?.(stream);
  return xml === undefined ? reply.send(carriers[carrier].answerJson?.(stream)) : sendXml(reply, xml);
}

function streamAddress(server: SessionHost, request: FastifyRequest, carrier: CarrierName): string {
  const address = `${server.socketBase(request)}/ws`;
  if (server.socketAuth !== "token") return address;
  const session = server.sessions.create({ transport: carrier, body: undefined });
  return `${address}/${server.tokens.issue(session.id)}`;
}

function chooseCarrier(
  server: SessionHost,
  request: FastifyRequest<WebhookRequest>,
  fields: URLSearchParams,
): CarrierName {
  const requested = request.query.transport ?? server.onlyTransport ?? carrierAsking(request.headers, fields);
  const carrier = carrierNames.find((name) => name === requested);
  if (!carrier)
    throw new AppError("CARRIER_UNKNOWN", {
      message: `This request does not look like a known carrier's webhook. Add ?transport=${carrierNames.join("|")} to its address.`,
    });
  if (server.transports.some((name) => name === carrier)) return carrier;
  throw new AppError("TRANSPORT_NOT_ALLOWED", {
    message: `Transport '${carrier}' is not allowed. Server is configured for '${server.onlyTransport}' only (-t ${server.onlyTransport}).`,
  });
}

async function requireSignature(
  server: SessionHost,
  request: FastifyRequest<{ Body: string | undefined }>,
  carrier: CarrierName,
): Promise<void> {
  const signed: SignedRequest = {
    method: request.method,
    url: server.socketBase(request).replace(/^ws/, "http") + request.url,
    headers: request.headers,
    rawBody: request.body ?? "",
    nowMs: Date.now(),
  };
  const verdict = await checkSignature(carrier, signed, server.signatureKeys[carrier]);
  if (verdict === "invalid") throw new AppError("SIGNATURE_INVALID");
}

function formFields(request: FastifyRequest<{ Body: string | undefined }>): URLSearchParams {
  const isForm = /^application\/x-www-form-urlencoded\b/i.test(request.headers["content-type"] ?? "");
  return new URLSearchParams(isForm ? (request.body ?? "") : "");
}
