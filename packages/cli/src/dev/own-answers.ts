import type { IncomingMessage, ServerResponse } from "node:http";

/** While no code runs: a page that tries again for people, the runner's own refusal for programs. */
export function answerNotReady(request: IncomingMessage, response: ServerResponse): void {
  request.resume();
  const wantsPage = request.method === "GET" && (request.headers.accept ?? "").includes("text/html");
  response.writeHead(503, {
    "content-type": wantsPage ? "text/html; charset=utf-8" : "application/json; charset=utf-8",
    "cache-control": "no-store",
    "retry-after": "1",
  });
  response.end(
    wantsPage ? PAGE : JSON.stringify({ error: SENTENCE, code: "BOT_NOT_READY", detail: SENTENCE }),
  );
}

export function answerTooLarge(response: ServerResponse): void {
  const body = {
    error: "The request is too large",
    code: "PAYLOAD_TOO_LARGE",
    detail: "The request is too large",
  };
  response.writeHead(413, { "content-type": "application/json; charset=utf-8", connection: "close" });
  response.end(JSON.stringify(body));
}

const SENTENCE = "The bot is not running. The terminal says why.";

const PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="refresh" content="1">
<title>Waiting for the bot</title>
<style>
  body { font: 16px/1.5 system-ui, sans-serif; display: grid; place-items: center; min-height: 90vh; color-scheme: light dark }
</style>
<main>
  <h1>Waiting for the bot</h1>
  <p>It is starting, or its code has an error. The terminal says which. This page retries automatically.</p>
</main>
</html>
`;
