import { request as httpRequest, type Agent, type IncomingMessage } from "node:http";
import { InstanceCallError, type InstanceTarget } from "./instance-network.ts";

export interface Question {
  target: InstanceTarget;
  path: string;
  /** Posted; without one it is only looked at. */
  body?: object;
  token: string;
  timeoutMs: number;
  agent: Agent;
  /** Aborted when the network is closed. */
  over: AbortSignal;
}

export interface InstanceAnswer {
  status: number;
  text: string;
}

const ANSWER_MAX_BYTES = 1024 * 1024; // a bot's process must not be able to fill the controller's memory

/** Sends a request to an instance, perhaps twice: it must be idempotent. Rejects with `InstanceCallError`. */
export async function askInstance(question: Question): Promise<InstanceAnswer> {
  const untilMs = performance.now() + question.timeoutMs;
  let isSecond = false;
  try {
    return await exchange(question).catch((error: unknown) => {
      if (!(error instanceof StaleConnectionError) || question.over.aborted) throw error;
      isSecond = true;
      return exchange({ ...question, timeoutMs: Math.max(untilMs - performance.now(), 1) });
    });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    // If the second exchange fails too, the first may have reached the instance and killed it.
    const neverArrived = !isSecond && (code === "ECONNREFUSED" || code === "EHOSTUNREACH");
    throw new InstanceCallError(`The instance did not answer: ${message}`, neverArrived ? "no" : "maybe", {
      cause: error,
    });
  }
}

/** An idle connection broke when it was used again: most likely the instance was just closing it. */
class StaleConnectionError extends Error {}

function exchange({ target, path, body, token, timeoutMs, agent }: Question): Promise<InstanceAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<InstanceAnswer>();
  const [host, port] = splitAddress(target.address);
  const payload = body && JSON.stringify(body);
  const request = httpRequest({
    host,
    port,
    path,
    agent,
    method: payload === undefined ? "GET" : "POST",
    headers: {
      authorization: `Bearer ${token}`,
      ...(payload === undefined
        ? {}
        : { "content-type": "application/json", "content-length": Buffer.byteLength(payload) }),
    },
  });
  const timer = setTimeout(
    () => request.destroy(new Error(`no answer within ${Math.round(timeoutMs)} ms`)),
    timeoutMs,
  );
  request.on("information", () => request.destroy(new Error("informational responses are not supported")));
  let isAnswered = false;
  request.on("response", (response) => {
    isAnswered = true;
    readText(response).then((text) => resolve({ status: response.statusCode ?? 0, text }), reject);
  });
  request.on("error", (error: NodeJS.ErrnoException) => {
    const isBroken = error.code === "ECONNRESET" || error.code === "EPIPE";
    reject(isBroken && request.reusedSocket && !isAnswered ? new StaleConnectionError() : error);
  });
  request.on("close", () => clearTimeout(timer));
  request.end(payload);
  return promise;
}

async function readText(response: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of response.setEncoding("utf8") as AsyncIterable<string>) {
    text += chunk;
    if (text.length > ANSWER_MAX_BYTES) throw new Error("its answer is too long");
  }
  return text;
}

export function splitAddress(address: string): [string, number] {
  const at = address.lastIndexOf(":");
  return [address.slice(0, at).replace(/^\[|\]$/g, ""), Number(address.slice(at + 1))];
}
