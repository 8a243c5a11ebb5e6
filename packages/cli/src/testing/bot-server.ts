import { createServer, type IncomingMessage } from "node:http";
import { listenOnLoopback } from "../../../../testing/loopback-server.ts";
import { WebSocketServer, type WebSocket } from "ws";

/** A small bot on a free port: answers webhooks with some XML and repeats what it hears. */
export interface BotServer extends AsyncDisposable {
  readonly host: string;
  /** Everything a caller sent, in order. */
  readonly messages: Message[];
  readonly webhooks: { headers: IncomingMessage["headers"]; url: string; body: string }[];
  readonly upgrades: IncomingMessage["headers"][];
  /** Resolves when a message with that event has come. */
  heard(event: string): Promise<void>;
}

export interface Message {
  event: string;
  media?: { payload: string };
  [field: string]: unknown;
}

export interface BotServerOptions {
  /** Answer of the webhook; `host` is the server's own. */
  xml?: (host: string) => string;
  /** HTTP status instead of a socket. */
  refuseWith?: number;
  /** How the bot reacts to a message. @default repeats media */
  onMessage?: (socket: WebSocket, message: Message) => void;
}

export async function startBotServer(options: BotServerOptions = {}): Promise<BotServer> {
  const messages: Message[] = [];
  const webhooks: BotServer["webhooks"] = [];
  const upgrades: IncomingMessage["headers"][] = [];
  const waiting = new Set<() => void>();
  const onMessage = options.onMessage ?? repeat;

  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (piece: Buffer) => (body += piece.toString()));
    request.on("end", () => {
      webhooks.push({ headers: request.headers, url: request.url ?? "", body });
      response.writeHead(options.xml ? 200 : 404, { "content-type": "application/xml" });
      response.end(options.xml?.(host));
    });
  });
  const sockets = new WebSocketServer({ noServer: true });
  server.on("upgrade", (request, socket, head) => {
    upgrades.push(request.headers);
    if (options.refuseWith !== undefined) {
      socket.end(
        `HTTP/1.1 ${options.refuseWith} No\r\ncontent-length: 7\r\nconnection: close\r\n\r\nbecause`,
      );
      return;
    }
    sockets.handleUpgrade(request, socket, head, (webSocket) => {
      webSocket.on("message", (data: Buffer) => {
        const message = JSON.parse(data.toString()) as Message;
        messages.push(message);
        onMessage(webSocket, message);
        for (const check of waiting) check();
      });
    });
  });
  const listening = await listenOnLoopback(server);
  const { host } = listening;

  return {
    host,
    messages,
    webhooks,
    upgrades,
    heard(event) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const check = (): void => {
        if (!messages.some((message) => message.event === event)) return;
        waiting.delete(check);
        resolve();
      };
      waiting.add(check);
      check();
      return promise;
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets.clients) socket.terminate();
      await listening[Symbol.asyncDispose]();
    },
  };
}

/** In the words of whichever carrier it is. */
function repeat(socket: WebSocket, message: Message): void {
  if (message.event !== "media" || !message.media) return;
  const { payload } = message.media;
  const { streamSid, stream_sid, streamId } = message;
  if (streamId !== undefined) {
    const media = { contentType: "audio/x-mulaw", sampleRate: 8000, payload };
    socket.send(JSON.stringify({ event: "playAudio", media }));
  } else socket.send(JSON.stringify({ event: "media", streamSid, stream_sid, media: { payload } }));
}
