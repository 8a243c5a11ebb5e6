import type { Page } from "playwright-core";

/** Events of a page that its test does not look at. */
export interface PageWatch {
  readonly console: readonly string[];
  /** Uncaught errors, and requests to unexpected hosts. */
  readonly problems: readonly string[];
}

// A released client whose start is refused asks which microphone it has after it has let go of it.
const CLIENTS_OWN = /Cannot read properties of null \(reading 'getAudioTracks'\)/;

export function watchPage(page: Page, expectedUrls: string[]): PageWatch {
  const hosts = new Set(expectedUrls.map((url) => new URL(url).hostname));
  const console: string[] = [];
  const problems: string[] = [];
  const check = (url: string): void => {
    if (/^(?:data|blob|about):/.test(url) || hosts.has(new URL(url).hostname)) return;
    problems.push(`request to ${url}`);
  };
  page.on("request", (request) => check(request.url()));
  page.on("websocket", (socket) => check(socket.url()));
  page.on("pageerror", (error) => {
    if (!CLIENTS_OWN.test(error.message)) problems.push(error.stack ?? error.message);
  });
  page.on("console", (message) => void console.push(`${message.type()}: ${message.text()}`));
  return { console, problems };
}
