import {
  AppError,
  chooseTransport,
  dialOutOperations,
  publicStartOperations,
  REGION_HEADER,
  REGION_REASON_HEADER,
  requestedTransport,
  requireStartBodyFits,
  StartHeaders,
  transportNames,
  type Dialled,
  type Started,
  type StartRequest,
} from "@vocalhost/protocol";
import type { FastifyReply, FastifyRequest } from "fastify";
import { requireAgentAllowed } from "../identity/rate-limits.ts";
import { badField } from "@vocalhost/base/refusals";
import { addressOf, originOf } from "./admit-request.ts";
import { handle, type Handled } from "./operation.ts";
import { meantBefore, type RegionPreference } from "../sessions/choose-region.ts";
import type { StartSessionRequest } from "../sessions/doors/door.ts";
import type { ApiPorts } from "./ports.ts";

export function handleStarts(ports: ApiPorts): Handled[] {
  return [
    ...handle(publicStartOperations, {
      start: {
        unauthorizedText: "Unauthorized / token expired",
        internalText: "Internal server error. Please check logs for more information or contact support.",
      },
    })({
      start: async ({ principal, params, body, request, reply }) => {
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
    ...handle(dialOutOperations)({
      dialOut: async ({ principal, params, body: asked, request, reply }) => {
        const { transport, body, region, stayInRegion, ...dialout } = asked;
        requireStartBodyFits(transport, body);
        const answer = await start(
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
        return answer as Dialled; // every start that places a call returns this type
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
