import {
  answeredXml,
  AppError,
  carrierNames,
  exotelAnswer,
  streamXml,
  transferXml,
  type CarrierName,
} from "@vocalhost/protocol";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { SessionServer } from "../session-server.ts";
import { checkPlivoSignature } from "@vocalhost/carriers";
import type { SignatureVerdict, SignedRequest } from "@vocalhost/carriers";
import { checkTelnyxSignature } from "@vocalhost/carriers";
import { checkTwilioSignature } from "@vocalhost/carriers";

declare module "fastify" {
  interface FastifyContextConfig {
    /** Called by carriers, who send forms; a signature stands in for the checks made of pages. */
    webhook?: boolean;
  }
}

interface WebhookRequest {
  Querystring: { transport?: string };
  Body: string | undefined;
}

const WEBHOOK_MAX_BYTES = 64 * 1024;

/** `POST /`: a carrier asks what to do with a call and is told to stream it to us. */
export function mountCarrierWebhook(server: SessionServer): void {
  void server.app.register(async (scope: FastifyInstance) => {
    scope.removeAllContentTypeParsers();
    // Signatures cover the body to the letter.
    scope.addContentTypeParser(
      "*",
      { parseAs: "string", bodyLimit: WEBHOOK_MAX_BYTES },
      (_request, body, done) => done(null, body),
    );
    scope.post<WebhookRequest>("/", { config: { webhook: true } }, async (request, reply) => {
      const fields = formFields(request);
      const carrier = chooseCarrier(server, request, fields);
      requireSignature(server, request, carrier);
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

/** Carriers ask what a call that we placed or transferred is to do. What they are told is all in the question. */
function mountCallQuestions(scope: FastifyInstance, server: SessionServer): void {
  const options = { config: { webhook: true } };
  scope.post<AnswerRequest>("/calls/answer/:carrier", options, async (request, reply) => {
    const carrier = carrierNames.find((name) => name === request.params.carrier);
    if (!carrier || carrier === "exotel") throw new AppError("CARRIER_UNKNOWN");
    requireSignature(server, request, carrier);
    const address = `${server.socketBase(request)}/ws`;
    return sendXml(reply, answeredXml(carrier, { address, token: request.query.token }, formFields(request)));
  });
  scope.post<TransferRequest>("/calls/transfer", options, async (request, reply) => {
    requireSignature(server, request, "plivo");
    return sendXml(reply, transferXml(request.query));
  });
}

function sendXml(reply: FastifyReply, xml: string): FastifyReply {
  return reply.type("application/xml; charset=utf-8").send(xml);
}

function answer(
  server: SessionServer,
  request: FastifyRequest<WebhookRequest>,
  reply: FastifyReply,
  carrier: CarrierName,
  fields: URLSearchParams,
): FastifyReply {
  const url = streamAddress(server, request, carrier);
  const stream = { url, from: fields.get("From") ?? undefined, to: fields.get("To") ?? undefined };
  if (carrier === "exotel") return reply.send(exotelAnswer(stream));
  return sendXml(reply, streamXml(carrier, stream));
}

function streamAddress(server: SessionServer, request: FastifyRequest, carrier: CarrierName): string {
  const address = `${server.socketBase(request)}/ws`;
  if (server.socketAuth !== "token") return address;
  const session = server.sessions.create({ transport: carrier, body: undefined });
  return `${address}/${server.tokens.issue(session.id)}`;
}

function chooseCarrier(
  server: SessionServer,
  request: FastifyRequest<WebhookRequest>,
  fields: URLSearchParams,
): CarrierName {
  const requested = request.query.transport ?? server.onlyTransport ?? fromWebhook(request, fields);
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

function fromWebhook(request: FastifyRequest, fields: URLSearchParams): CarrierName | undefined {
  const { headers } = request;
  if (headers["telnyx-signature-ed25519"] !== undefined || fields.has("CallControlId")) return "telnyx";
  if (/^v\d:/.test(fields.get("CallSid") ?? "")) return "telnyx"; // its TeXML uses Twilio's field names
  if (headers["x-plivo-signature-v3"] !== undefined || fields.has("CallUUID")) return "plivo";
  if (headers["x-twilio-signature"] !== undefined || (fields.has("AccountSid") && fields.has("CallSid")))
    return "twilio";
  return undefined;
}

function requireSignature(
  server: SessionServer,
  request: FastifyRequest<{ Body: string | undefined }>,
  carrier: CarrierName,
): void {
  const signed: SignedRequest = {
    method: request.method,
    url: server.socketBase(request).replace(/^ws/, "http") + request.url,
    headers: request.headers,
    rawBody: request.body ?? "",
    nowMs: Date.now(),
  };
  if (verdictOf(server, signed, carrier) === "invalid") throw new AppError("SIGNATURE_INVALID");
}

function verdictOf(
  { signatureKeys }: SessionServer,
  signed: SignedRequest,
  carrier: CarrierName,
): SignatureVerdict {
  switch (carrier) {
    case "twilio":
      return checkTwilioSignature(signed, signatureKeys.twilio);
    case "telnyx":
      return checkTelnyxSignature(signed, signatureKeys.telnyx);
    case "plivo":
      return checkPlivoSignature(signed, signatureKeys.plivo);
    case "exotel":
      return "off"; // signs nothing
    default:
      return carrier satisfies never;
  }
}

function formFields(request: FastifyRequest<{ Body: string | undefined }>): URLSearchParams {
  const isForm = /^application\/x-www-form-urlencoded\b/i.test(request.headers["content-type"] ?? "");
  return new URLSearchParams(isForm ? (request.body ?? "") : "");
}
