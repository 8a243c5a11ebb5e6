import { AppError, isAppError } from "@vocalhost/protocol";
import { answerSocket, toAnswer, type Answer } from "./answers.ts";
import type { ClientSocket } from "./client-socket.ts";
import { SocketRoute, type SocketRouteRequest } from "@vocalhost/base/peers/controller-api";
import { unavailable } from "./controller-link.ts";
import { checkServiceHost, checkToken, parseIngressAddress, type IngressAddress } from "./ingress-address.ts";
import { createOpeningFrames, type Opening } from "./opening-frames.ts";
import type { RequestPath } from "./request-path.ts";
import { connectAndRelay, type SocketEnd, type SocketRelay } from "./session-socket.ts";

/**
 * Serves a WebSocket that starts a session: the controller uses up its token and claims an instance, then bytes are
 * relayed. If a carrier cannot name the agent in the address, the gateway accepts the upgrade and reads the agent
 * from its start message.
 */
export async function takeIngressSocket(
  relay: SocketRelay,
  client: ClientSocket,
  path: RequestPath,
): Promise<SocketEnd> {
  try {
    const address = parseIngressAddress(path, client.request.headers.authorization);
    const isNamed = address.serviceHost !== undefined || address.token !== undefined;
    const question = isNamed ? toQuestion(address) : await introduce(relay, client, address);
    const route = await askRoute(relay, client, question);
    return await connectAndRelay(relay, client, { route, path: route.path, isPinged: true });
  } catch (error) {
    return refuse(relay, client, path, error);
  }
}

/** The controller refused; the client gets its message. */
class Refusal extends Error {
  readonly answer: Answer;
  constructor(answer: Answer) {
    super("refused");
    this.answer = answer;
  }
}

/** The client broke the protocol before an instance was known. */
class BadOpening extends Error {
  readonly code: number;
  constructor(code: number, reason: string) {
    super(reason);
    this.code = code;
  }
}

function toQuestion({ ingress, serviceHost, token, body }: IngressAddress): SocketRouteRequest {
  return {
    ingress,
    ...(serviceHost === undefined ? {} : { serviceHost }),
    ...(token === undefined ? {} : { token }),
    ...(body === undefined ? {} : { body }),
  };
}

async function introduce(
  { timing, limits }: SocketRelay,
  client: ClientSocket,
  address: IngressAddress,
): Promise<SocketRouteRequest> {
  client.accept(undefined);
  const frames = createOpeningFrames({ maxBytes: limits.openingBytes });
  const { promise, resolve } = Promise.withResolvers<Opening>();
  const late = (): void =>
    resolve({ kind: "refused", code: POLICY, reason: "No start message has come in time" });
  const timer = setTimeout(late, timing.openingMs);
  client.gone.addEventListener("abort", () => resolve({ kind: "refused", code: 1000, reason: "Gone" }));
  let isDone = false;
  client.watch((chunk) => {
    if (isDone) return;
    const opening = frames.push(chunk);
    if (opening.kind === "more") return;
    isDone = true;
    resolve(opening);
  });
  const opening = await promise.finally(() => clearTimeout(timer));
  isDone = true;
  if (opening.kind === "refused") throw new BadOpening(opening.code, opening.reason);
  if (opening.kind !== "start") throw new BadOpening(POLICY, "No start message has come");
  const { serviceHost } = opening;
  const token = checkToken(opening.token);
  if (serviceHost === undefined && token === undefined)
    throw new BadOpening(POLICY, "Name the agent: parameter _serviceHost");
  client.keepUpTo(limits.relayBytes);
  return toQuestion({
    ...address,
    serviceHost: serviceHost === undefined ? undefined : checkServiceHost(serviceHost),
    token,
  });
}

async function askRoute(
  { controller, limits }: SocketRelay,
  client: ClientSocket,
  question: SocketRouteRequest,
): Promise<SocketRoute> {
  client.keepUpTo(limits.relayBytes);
  // The gateway asks only once, because the request uses up the token.
  const told = await controller.ask("/internal/socket-route", question, SocketRoute);
  switch (told.kind) {
    case "answer":
      return told.value;
    case "refusal":
      throw new Refusal(told.answer);
    case "unreachable":
      throw new Refusal(told.answer ?? toAnswer(unavailable(undefined)));
    default:
      return told satisfies never;
  }
}

function refuse(relay: SocketRelay, client: ClientSocket, path: RequestPath, error: unknown): SocketEnd {
  const { goodbyeMs } = relay.timing;
  if (error instanceof BadOpening) {
    client.close(error.code, error.message, goodbyeMs);
    return { status: 400 };
  }
  const told = error instanceof Refusal ? error.answer : toAnswer(error);
  if (client.isOpen) client.close(closeCodeOf(told.status), reasonOf(error), goodbyeMs);
  else answerSocket(client.socket, path.raw, told);
  return { status: told.status };
}

const POLICY = 1008;

function closeCodeOf(status: number): number {
  if (status === 429 || status === 503 || status === 504) return 1013;
  return status < 500 ? POLICY : 1011;
}

function reasonOf(error: unknown): string {
  if (isAppError(error)) return error.message;
  return error instanceof Refusal ? codeIn(error.answer.body) : new AppError("INTERNAL_SERVER_ERROR").message;
}

function codeIn(body: string): string {
  try {
    const { code } = JSON.parse(body) as { code?: unknown };
    return typeof code === "string" ? code : "";
  } catch {
    return "";
  }
}
