import {
  AppError,
  chooseTransport,
  Dialled,
  DialoutRequest,
  IdempotencyKey,
  REGION_HEADER,
  REGION_REASON_HEADER,
  requestedTransport,
  requireStartBodyFits,
  Started,
  StartRequest,
  transportNames,
} from "@vocalhost/protocol";
import type { FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import { requireAgentAllowed } from "../identity/rate-limits.ts";
import { badField } from "@vocalhost/base/refusals";
import { addressOf, originOf } from "./admit-request.ts";
import { AgentParams } from "./agents.ts";
import { defineOperation, type Operation } from "./operation.ts";
import { meantBefore, type RegionPreference } from "../sessions/choose-region.ts";
import type { StartSessionRequest } from "../sessions/doors/door.ts";
import type { ApiPorts } from "./ports.ts";

const StartHeaders = z.object({
  "idempotency-key": IdempotencyKey.optional(),
  /** From a proxy that knows where callers are; what the body says counts more. */
  [REGION_HEADER]: z.string().max(63).optional(),
});

export function publicStartOperations(ports: ApiPorts): Operation[] {
  return [
    defineOperation({
      id: "startSession",
      tag: "Public",
      summary: "Start a session of an agent",
      method: "POST",
      path: "/public/:serviceName/start",
      right: "public",
      params: AgentParams,
      body: StartRequest,
      headers: StartHeaders,
      answers: { 200: Started },
      refusals: [409, 504],
      wording: {
        unauthorizedText: "Unauthorized / token expired",
        internalText: "Internal server error. Please check logs for more information or contact support.",
      },
      run: async ({ principal, params, body, request, reply }) => {
        const agentName = params.serviceName;
        const requested = requestedTransport(body);
        const transport = chooseTransport(requested, {
          accepted: transportNames,
          refusal: "is not available in this service.",
        });
        requireAgentAllowed(principal, agentName);
        requireStartBodyFits(transport, body.body);
        return start(
          ports,
          { request, reply },
          {
            principal,
            agentName,
            transport,
            body: body.body,
            enableDefaultIceServers: body.enableDefaultIceServers === true,
            room: {
              requested: requested ?? "room",
              roomProperties: body.roomProperties ?? body.dailyRoomProperties,
              tokenProperties: body.tokenProperties ?? body.dailyMeetingTokenProperties,
              token: body.room?.token,
            },
            dialout: body.dialout ?? undefined,
            region: preferenceOf(ports, body, request),
          },
        );
      },
    }),
    defineOperation({
      id: "dialOut",
      tag: "Sessions",
      summary: "Call somebody: a session of an agent that begins when they answer",
      method: "POST",
      path: "/agents/:serviceName/dialout",
      alias: "/services/:serviceName/dialout",
      right: "manage",
      params: AgentParams,
      body: DialoutRequest,
      headers: StartHeaders,
      answers: { 200: Dialled },
      refusals: [409, 502],
      run: async ({ principal, params, body: asked, request, reply }) => {
        const { transport, body, region, stayInRegion, ...dialout } = asked;
        requireStartBodyFits(transport, body);
        return start(
          ports,
          { request, reply },
          {
            principal,
            agentName: params.serviceName,
            transport,
            body,
            enableDefaultIceServers: false,
            room: NO_ROOM,
            dialout,
            region: preferenceOf(ports, { region, stayInRegion }, request),
          },
        );
      },
    }),
  ];
}

const NO_ROOM = {
  requested: "room",
  roomProperties: undefined,
  tokenProperties: undefined,
  token: undefined,
} as const;

function preferenceOf(
  { regions }: ApiPorts,
  asked: Pick<StartRequest, "region" | "stayInRegion">,
  request: FastifyRequest,
): RegionPreference {
  const region = asked.region ?? StartHeaders.parse(request.headers)[REGION_HEADER] ?? null;
  const codes = regions.map(({ code }) => code);
  if (region !== null && !codes.includes(region))
    throw badField("region", `Region '${region}' is not available. Available regions: ${codes.join(", ")}`);
  return { asked: region, stays: asked.stayInRegion === true };
}

async function start(
  ports: ApiPorts,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
  asked: Omit<StartSessionRequest, "address" | "idempotencyKey" | "wsBase">,
): Promise<Started> {
  const { "idempotency-key": idempotencyKey } = StartHeaders.parse(request.headers);
  await ports.startLimits.take(asked.principal);
  const wsBase = originOf(request).replace(/^http/, "ws");
  const address = addressOf(request);
  const outcome = await ports
    .startSession({ ...asked, address, idempotencyKey, wsBase })
    .catch((error: unknown) => {
      ports.metrics.countStart(error instanceof AppError ? error.code : "INTERNAL_SERVER_ERROR");
      throw error;
    });
  ports.metrics.countStart("started");
  if (outcome.sessionId !== null) reply.header("x-vocalhost-session-id", outcome.sessionId);
  const { region, regionReason } = outcome.region ?? {};
  const meant = regionReason ? meantBefore(regionReason) : undefined;
  if (region && meant) ports.metrics.countElsewhere({ ...meant, to: region });
  if (region) reply.header(REGION_HEADER, region);
  if (regionReason) reply.header(REGION_REASON_HEADER, regionReason);
  return outcome.answer;
}
