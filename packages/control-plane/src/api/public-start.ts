import {
  AppError,
  IdempotencyKey,
  limits,
  reservedTransportNames,
  Started,
  StartRequest,
  transportNames,
  type TransportName,
} from "@vocalhost/protocol";
import { z } from "zod";
import { requireAgentAllowed } from "../auth/rate-limits.ts";
import { originOf } from "./admit-request.ts";
import { AgentParams } from "./agents.ts";
import type { ApiMetrics } from "./metrics.ts";
import { defineOperation, type Operation } from "./operation.ts";
import type { ApiPorts } from "./ports.ts";

/** What released clients may send beside our own fields. */
const HostedStartRequest = StartRequest.extend({
  createDailyRoom: z.boolean().nullish(),
  dailyRoomProperties: z.unknown().optional(),
  dailyMeetingTokenProperties: z.unknown().optional(),
});
type HostedStartRequest = z.infer<typeof HostedStartRequest>;

const StartHeaders = z.object({ "idempotency-key": IdempotencyKey.optional() });

export function publicStartOperations(ports: ApiPorts, metrics: ApiMetrics): Operation[] {
  return [
    defineOperation({
      id: "startSession",
      tag: "Public",
      summary: "Start a session of an agent",
      method: "POST",
      path: "/public/:serviceName/start",
      right: "public",
      params: AgentParams,
      body: HostedStartRequest,
      headers: StartHeaders,
      answers: { 200: Started },
      refusals: [409, 504],
      wording: {
        unauthorizedText: "Unauthorized / token expired",
        internalText: "Internal server error. Please check logs for more information or contact support.",
      },
      run: async ({ principal, params, body, request, reply }) => {
        const agentName = params.serviceName;
        const transport = chooseTransport(body);
        requireAgentAllowed(principal, agentName);
        if (transport !== "webrtc") requireSmallBody(body.body);
        const { "idempotency-key": idempotencyKey } = StartHeaders.parse(request.headers);
        ports.startLimits.take(principal);
        const outcome = await ports
          .startSession({
            principal,
            agentName,
            transport,
            body: body.body,
            enableDefaultIceServers: body.enableDefaultIceServers === true,
            idempotencyKey,
            wsBase: originOf(request).replace(/^http/, "ws"),
          })
          .catch((error: unknown) => {
            metrics.countStart(error instanceof AppError ? error.code : "INTERNAL_SERVER_ERROR");
            throw error;
          });
        metrics.countStart("started");
        if (outcome.sessionId !== null) reply.header("x-vocalhost-session-id", outcome.sessionId);
        return outcome.answer;
      },
    }),
  ];
}

function chooseTransport({ transport, createDailyRoom }: HostedStartRequest): TransportName {
  const name = transport ?? (createDailyRoom === true ? "daily" : "webrtc");
  const known = transportNames.find((each) => each === name);
  if (known) return known;
  if ((reservedTransportNames as readonly string[]).includes(name))
    throw new AppError("TRANSPORT_DISABLED", {
      message: `Transport '${name}' is not available in this service.`,
    });
  throw new AppError("TRANSPORT_UNKNOWN", { message: `Unknown transport '${name.slice(0, 100)}'.` });
}

// It may have to travel in a URL.
function requireSmallBody(body: unknown): void {
  if (Buffer.byteLength(JSON.stringify(body ?? {})) <= limits.websocketStartBodyBytes) return;
  throw new AppError("PAYLOAD_TOO_LARGE", {
    message: `The start body of a websocket session may have ${limits.websocketStartBodyBytes} bytes at most`,
  });
}
