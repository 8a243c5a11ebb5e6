import { WebSocket } from "ws";
import type { ServiceProcess } from "../../e2e/harness/service-process.ts";

/** One conversation with a hosted bot over a plain WebSocket. */
export interface Call extends Disposable {
  readonly socket: WebSocket;
  /** From the start request until the bot was entered. */
  readonly enteredMs: number;
}

const ENTER_MS = 30_000;

/** Starts a session as any client would and resolves when its bot has said that it runs. */
export async function placeCall(
  service: ServiceProcess,
  agent: string,
  { enterMs = ENTER_MS }: { enterMs?: number } = {},
): Promise<Call> {
  const startedMs = performance.now();
  const answer = await service.publicApi.sessions.start(agent, { transport: "websocket" });
  const { wsUrl, token } = answer as { wsUrl: string; token: string };
  const socket = new WebSocket(`${wsUrl}?token=${token}`, { perMessageDeflate: false });
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new Error(`${agent} was not entered within ${enterMs} ms`)),
      enterMs,
    );
    socket.once("message", () => {
      clearTimeout(timer);
      resolve();
    });
    socket.once("error", reject);
  });
  return {
    socket,
    enteredMs: performance.now() - startedMs,
    [Symbol.dispose]: () => socket.close(),
  };
}
