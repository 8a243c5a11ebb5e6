import type { BotReadyData } from "@pipecat-ai/client-js";
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import type { TestContext } from "node:test";
import type { Browser, Page, Response } from "playwright-core";
import type { Report, StartBody } from "../bots/conformance-bot.ts";
import { patientMs } from "../../testing/patience.ts";
import { eventually, until, within } from "../../testing/wait.ts";
import { openContext } from "../harness/chromium.ts";
import { watchPage } from "./page-watch.ts";
import type { ClientOptions } from "./page/caller-page.ts";
import type { Target } from "./target.ts";
import { isTone, type Tone } from "./tone.ts";
import type { Utterance } from "./utterance.ts";

/** A person with a browser, who talks to the bot through a released client. */
export interface Caller {
  readonly page: Page;
  readonly startBody: StartBody;
  /** Offers the client has made and what it was answered, oldest first. */
  readonly offers: readonly OfferExchange[];
  /** Starts a session and connects; resolves with what the client's own promise gives. */
  connect(options?: ConnectOptions): Promise<BotReadyData>;
  state(): Promise<string>;
  /** Data of every event of that name, oldest first. */
  events<T = unknown>(name: string): Promise<T[]>;
  send(type: string, data?: unknown): Promise<void>;
  request<T = unknown>(type: string, data?: unknown): Promise<T>;
  /** Asks the bot for its report. */
  report(): Promise<Report>;
  hear(): Promise<Tone>;
  /** The next thing the bot says; ask before it begins. */
  nextUtterance(): Promise<Utterance>;
  hears(frequencyHz: number): Promise<Tone>;
  botHears(frequencyHz: number): Promise<Report>;
}

export interface CallerOptions extends ClientOptions {
  body: Partial<StartBody>;
  /** @default the target's */
  startUrl?: string;
}

export interface ConnectOptions {
  /** @default the target's */
  toConnection?(answer: unknown): unknown;
}

/** Where callers go and what they go with. */
export interface CallerPlace {
  browser: Browser;
  pageOrigin: string;
  target: Target;
}

const CONNECT_MS = 30_000; // a busy machine takes its time to open audio devices
const UTTERANCE_MS = 20_000;
const BACK_MS = 30_000;
const ASK_MS = 60_000; // the longest anything asked of a page takes
const ANSWER_MS = 10_000; // clients give a bot no longer, unless they are told to
const CONSOLE_LINES = 40; // shown when a test fails

/** Opens a page in a browser context of its own; it closes with the test. */
export async function openCaller(
  test: TestContext,
  { browser, pageOrigin, target }: CallerPlace,
  options: CallerOptions,
): Promise<Caller> {
  const startUrl = options.startUrl ?? target.startUrl;
  const context = await openContext(browser);
  const page = impatient(await context.newPage());
  const watch = watchPage(page, [pageOrigin, startUrl]);
  test.after(async () => {
    await within(context.close(), ASK_MS, "closed browser context");
    if (!hasPassed(test)) for (const line of watch.console.slice(-CONSOLE_LINES)) test.diagnostic(line);
    assert.deepEqual(watch.problems, [], "the page failed or asked for something foreign");
  });
  const offers = watchOffers(page);
  await open(page, pageOrigin);
  await page.evaluate((clientOptions) => window.callerPage.createClient(clientOptions), options);
  const startBody: StartBody = { mode: "quiet", conversation: randomUUID(), ...options.body };
  const start: StartRequest = {
    endpoint: startUrl,
    headers: target.headers ?? {},
    requestData: { transport: options.transport, body: startBody },
  };
  const connect: Caller["connect"] = ({ toConnection = target.toConnection } = {}) =>
    within(startAndConnect(page, start, toConnection), CONNECT_MS, "bot-ready for the client");
  return { page, startBody, offers, connect, ...createSenses(page) };
}

const GAVE_UP = /ERR_NETWORK_CHANGED|interrupted by another navigation/;

/** A browser gives up what it loads when a network card comes or goes, which every container brings with it. */
async function open(page: Page, origin: string, attempts = 5): Promise<void> {
  try {
    await page.goto(origin);
  } catch (error) {
    if (attempts <= 1 || !GAVE_UP.test(String(error))) throw error;
    await page.waitForLoadState().catch(() => undefined); // of the page that says so
    await open(page, origin, attempts - 1);
  }
}

/** A page whose answers are waited for, but not for ever: a client that lost its bot may never settle a promise. */
function impatient(page: Page): Page {
  const evaluate = page.evaluate.bind(page) as (...args: unknown[]) => Promise<unknown>;
  page.evaluate = ((...args: unknown[]) => within(evaluate(...args), ASK_MS, "answer of the page")) as never;
  return page;
}

/** Actions of a connected caller. */
function createSenses(page: Page): Omit<Caller, "page" | "startBody" | "offers" | "connect"> {
  const request = <T>(type: string, data?: unknown): Promise<T> =>
    page.evaluate(
      ([messageType, content, answerMs]) =>
        window.callerPage.client.sendClientRequest(messageType, content, answerMs),
      [type, data, patientMs(ANSWER_MS)] as const,
    ) as Promise<T>;
  // A client that a starved machine cut off for a moment comes back by itself.
  const report = (): Promise<Report> =>
    until(() => request<Report>("report").catch(unlessAway), BACK_MS, "report over a client that is ready");
  const hear = (): Promise<Tone> => page.evaluate(() => window.callerPage.loudspeaker.hear());
  return {
    request,
    report,
    hear,
    state: () => page.evaluate(() => window.callerPage.client.state),
    events: <T>(name: string) =>
      page.evaluate(
        (wanted) =>
          window.callerPage.events.filter((event) => event.name === wanted).map((event) => event.data),
        name,
      ) as Promise<T[]>,
    send: (type, data) =>
      page.evaluate(
        ([messageType, content]) => window.callerPage.client.sendClientMessage(messageType, content),
        [type, data] as const,
      ),
    nextUtterance: () =>
      within(
        page.evaluate(() => window.callerPage.loudspeaker.nextUtterance()),
        UTTERANCE_MS,
        "end of an utterance",
      ),
    hears: (frequencyHz) =>
      eventually({
        what: `the caller hears ${frequencyHz} Hz`,
        look: hear,
        until: (tone) => isTone(tone, frequencyHz),
      }),
    botHears: (frequencyHz) =>
      eventually({
        what: `the bot hears ${frequencyHz} Hz`,
        look: report,
        until: ({ heard }) => isTone(heard, frequencyHz),
      }),
  };
}

function unlessAway(error: unknown): undefined {
  if (!String(error).includes("not in ready state")) throw error;
}

interface StartRequest {
  endpoint: string;
  headers: Record<string, string>;
  requestData: { transport: string; body: StartBody };
}

async function startAndConnect(
  page: Page,
  start: StartRequest,
  toConnection: ConnectOptions["toConnection"],
): Promise<BotReadyData> {
  if (!toConnection)
    return page.evaluate(
      ({ endpoint, headers, requestData }) =>
        window.callerPage.client.startBotAndConnect({
          endpoint,
          headers: new Headers(headers),
          requestData: { ...requestData, body: { ...requestData.body } },
        }),
      start,
    );
  const answer = await page.evaluate(
    ({ endpoint, headers, requestData }) =>
      window.callerPage.client.startBot({
        endpoint,
        headers: new Headers(headers),
        requestData: { ...requestData, body: { ...requestData.body } },
      }),
    start,
  );
  return page.evaluate(
    ({ connection, headers }) => {
      const { webrtcRequestParams: offer, ...rest } = connection as { webrtcRequestParams?: object };
      // Headers cannot cross into the page; a client that names its own offer address names its headers too.
      const offering = offer ? { webrtcRequestParams: { ...offer, headers: new Headers(headers) } } : {};
      return window.callerPage.client.connect({ ...rest, ...offering });
    },
    { connection: toConnection(answer), headers: start.headers },
  );
}

// Missing in the type declarations.
function hasPassed(test: TestContext & { passed?: boolean }): boolean {
  return test.passed ?? false;
}

/** An offer of the client and the service's answer to it. */
export interface OfferExchange {
  peerBefore: string | null;
  restart: boolean;
  status: number;
  /** Identifier in the answer. */
  peer: string | undefined;
}

/** A list that grows with every offer the page makes. */
function watchOffers(page: Page): readonly OfferExchange[] {
  const exchanges: OfferExchange[] = [];
  page.on("response", (response) => {
    const request = response.request();
    if (request.method() === "POST" && request.url().endsWith("/api/offer"))
      void read(response).then((exchange) => exchanges.push(exchange));
  });
  return exchanges;
}

async function read(response: Response): Promise<OfferExchange> {
  const offer = response.request().postDataJSON() as { pc_id: string | null; restart_pc: boolean };
  const answer = (await response.json().catch(() => ({}))) as { pc_id?: string };
  return {
    peerBefore: offer.pc_id,
    restart: offer.restart_pc,
    status: response.status(),
    peer: answer.pc_id,
  };
}
