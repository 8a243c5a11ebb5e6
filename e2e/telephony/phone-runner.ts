import type { Figures } from "../bots/figures.ts";
import { call, type Answer, type CallOptions } from "../harness/raw-http.ts";
import { spawnRunner, type RunnerProcess } from "../harness/runner-process.ts";
import { until } from "../../testing/wait.ts";
import type { CallRecord } from "./phone-bot.ts";

/** A runner with a bot that takes calls and tells about them. */
export interface PhoneRunner extends RunnerProcess {
  /** `ws://…/ws`, or another path. */
  socketUrl(path?: string): string;
  /** A carrier asks what to do with a call. */
  webhook(
    path: string,
    fields?: Record<string, string> | string,
    headers?: Record<string, string>,
  ): Promise<Answer>;
  calls(): Promise<CallRecord[]>;
  /** The record of this call, once it is there and as requested. */
  record(callId: string, isWanted?: (record: CallRecord) => boolean): Promise<CallRecord>;
  figures(): Promise<Figures>;
}

export interface PhoneRunnerOptions {
  flags?: string[];
  environment?: Record<string, string>;
  /** @default the phone bot */
  bot?: string;
}

const FORM_TYPE = { "content-type": "application/x-www-form-urlencoded" };
const RECORD_DEADLINE_MS = 15_000;

// Keys of the machine the tests run on must not decide what they find.
const NO_KEYS = {
  TWILIO_ACCOUNT_SID: "",
  TWILIO_AUTH_TOKEN: "",
  TELNYX_API_KEY: "",
  TELNYX_PUBLIC_KEY: "",
  PLIVO_AUTH_ID: "",
  PLIVO_AUTH_TOKEN: "",
  EXOTEL_API_TOKEN: "",
  VOCALHOST_DIALOUT_KEY: "",
};

export async function startPhoneRunner(options: PhoneRunnerOptions = {}): Promise<PhoneRunner> {
  const runner = spawnRunner({
    bot: options.bot ?? "e2e/telephony/phone-bot.ts",
    flags: options.flags ?? [],
    environment: { ...NO_KEYS, ...options.environment },
  });
  const url = await startedUrl(runner);
  const port = Number(url.port);
  const calls = async (): Promise<CallRecord[]> => (await call(port, "GET /calls")).json() as CallRecord[];
  return Object.assign(runner, {
    url: url.origin,
    port,
    socketUrl: (path = "/ws") => `ws://127.0.0.1:${port}${path}`,
    webhook(
      path: string,
      fields: Record<string, string> | string = {},
      headers: CallOptions["headers"] = {},
    ) {
      const body = typeof fields === "string" ? fields : new URLSearchParams(fields).toString();
      return call(port, `POST ${path}`, { body, headers: { ...FORM_TYPE, ...headers } });
    },
    calls,
    record: (callId: string, isWanted: (record: CallRecord) => boolean = () => true) =>
      until(
        async () => (await calls()).find((record) => record.callData?.callId === callId && isWanted(record)),
        RECORD_DEADLINE_MS,
        `record of call ${callId}`,
      ),
    figures: async () => (await call(port, "GET /figures")).json() as Figures,
  });
}

const START_DEADLINE_MS = 60_000; // machines that run every test at once are slow

async function startedUrl(runner: Omit<RunnerProcess, "url" | "port">): Promise<URL> {
  try {
    const [, address] = await runner.printed(/Talk to it\s+(http:\/\/\S+)/, START_DEADLINE_MS);
    return new URL(address ?? "");
  } catch (error) {
    await runner[Symbol.asyncDispose](); // or the test would wait for it for ever
    throw error;
  }
}
