import { answeredXml, askingCarrier, transferXml } from "@vocalhost/protocol";
import type { FastifyInstance, FastifyReply } from "fastify";
import { originOf } from "./admit-request.ts";

interface AnswerRequest {
  Params: { carrier: string };
  Querystring: { token?: string };
  Body: string | undefined;
}

interface TransferRequest {
  Querystring: { to?: string; callerId?: string };
  Body: string | undefined;
}

const QUESTION_MAX_BYTES = 64 * 1024;

/**
 * Answers carriers that ask for the instructions of a placed or transferred call. The question contains the whole
 * answer, and no row is read or used up: a forged question reveals only its own contents.
 */
export function mountCallQuestions(app: FastifyInstance): void {
  void app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser(
      "*",
      { parseAs: "string", bodyLimit: QUESTION_MAX_BYTES },
      (_request, body, done) => done(null, body),
    );
    const hidden = { schema: { hide: true } };
    scope.post<AnswerRequest>("/v1/public/calls/answer/:carrier", hidden, async (request, reply) => {
      const carrier = askingCarrier(request.params.carrier);
      const address = `${originOf(request).replace(/^http/, "ws")}/ws/${carrier}`;
      const fields = new URLSearchParams(request.body ?? "");
      return sendXml(reply, answeredXml(carrier, { address, token: request.query.token }, fields));
    });
    scope.post<TransferRequest>("/v1/public/calls/transfer", hidden, async (request, reply) =>
      sendXml(reply, transferXml(request.query)),
    );
  });
}

function sendXml(reply: FastifyReply, xml: string): FastifyReply {
  return reply.type("application/xml; charset=utf-8").send(xml);
}
