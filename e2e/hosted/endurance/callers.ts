import { ApiError } from "@vocalhost/protocol";
import { randomUUID } from "node:crypto";
import { pause, until } from "../../../testing/wait.ts";
import type { ServiceProcess } from "../../harness/service-process.ts";
import { CallRefusedError, openCall, type Call } from "../fault-call.ts";

/** People who call all day long, whatever happens to the service. */
export interface Callers {
  /** Sessions that were started and stopped, and what they were started under. */
  readonly stopped: { key: string; sessionId: string }[];
  /** Calls that ended as their callers asked. */
  readonly finished: string[];
  /** Calls whose bot or gateway was killed under them, and what is not known of others: they were never connected. */
  readonly struck: Set<string>;
  /** Faults that no killed bot or gateway explains. */
  readonly faults: string[];
  /** Times the service asked for patience or did not answer. */
  readonly refused: number;
  /** Calls under way, one of whose bots may be killed. */
  open(): readonly Call[];
  /** Called before the gateway is killed. */
  strikeAll(): void;
  /** Until they are told to end; resolves when the last has hung up. */
  run(count: number): Promise<void>;
  end(): void;
}

const PATIENCE_MS = 60_000;
const LATER = [429, 502, 503, 504];
const NUMBERS_MAX = 120; // two and a half seconds, so that many are billed
const NORMAL = 1000;

export function createCallers(service: ServiceProcess, agent: string, random: () => number): Callers {
  const stopped: Callers["stopped"] = [];
  const finished: string[] = [];
  const struck = new Set<string>();
  const faults: string[] = [];
  const open = new Set<Call>();
  let refused = 0;
  let isOver = false;

  async function persist<T>(attempt: () => Promise<T>, what: string): Promise<T> {
    const done = await until(
      () =>
        attempt().then(
          (value) => ({ value }),
          (error: unknown) => {
            if (!isTrouble(error)) throw error;
            refused += 1;
            return false as const;
          },
        ),
      PATIENCE_MS,
      what,
    );
    return done.value;
  }

  async function startAndStop(): Promise<void> {
    const key = randomUUID();
    const start = async (): Promise<string> => {
      const answer = await service.publicApi.sessions.start(agent, {
        transport: "webrtc",
        idempotencyKey: key,
      });
      if (!("sessionId" in answer)) throw new Error("A start gave no session");
      return answer.sessionId;
    };
    const sessionId = await persist(start, "start");
    const again = await persist(start, "start again");
    if (again !== sessionId) faults.push(`one key gave sessions ${sessionId} and ${again}`);
    await persist(async () => {
      await service.api.sessions.stop(agent, sessionId).catch((error: unknown) => {
        if (!(error instanceof ApiError && error.status === 404)) throw error; // the attempt before stopped it
      });
    }, "stop");
    stopped.push({ key, sessionId });
  }

  async function callAndHangUp(): Promise<void> {
    const numbers = 1 + Math.floor(random() * NUMBERS_MAX);
    using call = await persist(() => openCall(service, { agent }), "call");
    open.add(call);
    const isStruck = (): boolean => struck.has(call.sessionId);
    try {
      await until(() => call.echoed >= numbers || !call.isOpen, PATIENCE_MS, "conversation");
      call.fallSilent();
      if (call.isOpen) call.say("hang up");
      const code = await call.closed();
      if (code === NORMAL && call.faults.length === 0) finished.push(call.sessionId);
      else if (!isStruck()) faults.push(`call ${call.sessionId} ended with ${code}`, ...call.faults);
    } catch (error) {
      if (!isStruck()) throw error;
    } finally {
      open.delete(call);
    }
  }

  async function caller(): Promise<void> {
    while (!isOver)
      await (random() < 0.5 ? startAndStop() : callAndHangUp()).catch(async (error: unknown) => {
        faults.push(String(error));
        await pause(1_000);
      });
  }

  return {
    stopped,
    finished,
    struck,
    faults,
    get refused() {
      return refused;
    },
    open: () => [...open],
    strikeAll() {
      for (const { sessionId } of open) struck.add(sessionId);
    },
    run: async (count) => void (await Promise.all(Array.from({ length: count }, caller))),
    end: () => (isOver = true),
  };
}

// A refusal that asks for patience, a connection that broke, or a bot that was killed before it said hello.
function isTrouble(error: unknown): boolean {
  if (error instanceof ApiError || error instanceof CallRefusedError) return LATER.includes(error.status);
  return (
    error instanceof TypeError || /^(?:Error: )?No (?:open socket|greeting)|ECONN|hang up/.test(String(error))
  );
}
