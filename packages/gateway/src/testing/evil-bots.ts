import type { Socket } from "node:net";
import { acceptFor } from "../open-instance-socket.ts";

/** The behaviour of a hostile bot after it has read a request's head. */
export type EvilBot = (socket: Socket, head: string) => void;

/** Hostile answers by name; each lasts until its connection is closed. */
export const evilRequests: Record<string, EvilBot> = {
  "a body without end": (socket) => flood(socket, "HTTP/1.1 200 OK\r\n\r\n", Buffer.alloc(65_536, "x")),
  "chunks without end": (socket) =>
    flood(
      socket,
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
      Buffer.from(`1000\r\n${"x".repeat(4096)}\r\n`),
    ),
  "headers without end": (socket) =>
    flood(socket, "HTTP/1.1 200 OK\r\n", Buffer.from("x-a: bbbbbbbbbbbbb\r\n")),
  "one header without end": (socket) => flood(socket, "HTTP/1.1 200 OK\r\nx-a: ", Buffer.alloc(8_192, "b")),
  "a status line without end": (socket) => flood(socket, "HTTP/1.1 200 ", Buffer.alloc(8_192, "b")),
  "trailers without end": (socket) =>
    flood(
      socket,
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n",
      Buffer.from("x-t: bbbbbbbbbbbb\r\n"),
    ),
  "chunk extensions without end": (socket) =>
    flood(socket, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;x=", Buffer.alloc(8_192, "b")),
  "informational answers without end": (socket) =>
    flood(socket, "", Buffer.from("HTTP/1.1 102 Processing\r\n\r\n")),
  "early hints without end": (socket) =>
    flood(socket, "", Buffer.from("HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n")),
  "an upgrade nobody asked for": (socket) =>
    flood(
      socket,
      "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
      Buffer.alloc(8_192, "x"),
    ),
  "two lengths": (socket) =>
    socket.end("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!"),
  "a length and chunks": (socket) =>
    socket.end("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nsmuggled"),
  "a body cut short": (socket) => socket.end("HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\nhello"),
  "a second answer behind the first": (socket) =>
    socket.write(
      "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\naHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nb",
    ),
  "stacked encodings": (socket) =>
    socket.end(
      `HTTP/1.1 200 OK\r\nContent-Encoding: ${Array(200).fill("gzip").join(", ")}\r\nContent-Length: 2\r\n\r\nxx`,
    ),
  "a redirect to elsewhere": (socket) =>
    socket.end("HTTP/1.1 307 Away\r\nLocation: http://169.254.169.254/\r\nContent-Length: 0\r\n\r\n"),
  "a redirect to itself": (socket) =>
    socket.end("HTTP/1.1 301 Again\r\nLocation: /sessions/x\r\nContent-Length: 0\r\n\r\n"),
  silence: () => undefined,
  "a reset": (socket) => socket.resetAndDestroy(),
  "an end without a word": (socket) => socket.end(),
  "bytes that are not HTTP": (socket) => flood(socket, "", Buffer.alloc(4_096, 0xff)),
  "an old protocol": (socket) => socket.end("HTTP/0.9 200 OK\r\n\r\nhello"),
  "a status of four digits": (socket) => socket.end("HTTP/1.1 2000 OK\r\n\r\n"),
  "a negative length": (socket) => socket.end("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nhello"),
  "a huge length": (socket) =>
    socket.end(`HTTP/1.1 200 OK\r\nContent-Length: ${"9".repeat(40)}\r\n\r\nhello`),
  "folded headers": (socket) =>
    socket.end("HTTP/1.1 200 OK\r\nx-a: b\r\n  c: d\r\nSet-Cookie: a=1\r\n\r\nhello"),
  "a NUL in a header": (socket) => socket.end("HTTP/1.1 200 OK\r\nx-a: b\0c\r\n\r\nhello"),
  "a name with a space": (socket) => socket.end("HTTP/1.1 200 OK\r\nset-cookie : a=1\r\n\r\nhello"),
  "a body for no content": (socket) => socket.end("HTTP/1.1 204 No\r\nContent-Length: 5\r\n\r\nhello"),
  "one byte at a time": (socket) => drip(socket, "HTTP/1.1 200 OK\r\nx-a: b"),
};

const rightHead = (key: string): string =>
  "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" +
  `Sec-WebSocket-Accept: ${acceptFor(key)}\r\n`;

/** The invalid upgrades among these must not open a socket. */
export const evilUpgrades: Record<string, { opens: boolean; bot: EvilBot }> = {
  "a wrong accept": never((socket) => socket.write(`${rightHead("other")}\r\n`)),
  "no accept": never((socket) =>
    socket.write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n"),
  ),
  "two accepts": never((socket, head) =>
    socket.write(`${rightHead(keyIn(head))}Sec-WebSocket-Accept: ${acceptFor("other")}\r\n\r\n`),
  ),
  "an extension": never((socket, head) =>
    socket.write(`${rightHead(keyIn(head))}Sec-WebSocket-Extensions: permessage-deflate\r\n\r\n`),
  ),
  "a bad extension": never((socket, head) =>
    socket.write(`${rightHead(keyIn(head))}Sec-WebSocket-Extensions: ;;==,"\r\n\r\n`),
  ),
  "a subprotocol nobody offered": never((socket, head) =>
    socket.write(`${rightHead(keyIn(head))}Sec-WebSocket-Protocol: evil\r\n\r\n`),
  ),
  "another upgrade": never((socket, head) =>
    socket.write(`${rightHead(keyIn(head)).replace("Upgrade: websocket", "Upgrade: h2c")}\r\n`),
  ),
  "no connection header": never((socket, head) =>
    socket.write(`${rightHead(keyIn(head)).replace("Connection: Upgrade\r\n", "")}\r\n`),
  ),
  "success without an upgrade": never((socket) =>
    socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"),
  ),
  "an answer before the upgrade": never((socket, head) =>
    socket.write(`HTTP/1.1 100 Continue\r\n\r\n${rightHead(keyIn(head))}\r\n`),
  ),
  "an old version": never((socket, head) =>
    socket.write(`${rightHead(keyIn(head)).replace("HTTP/1.1", "HTTP/1.0")}\r\n`),
  ),
  "bare line feeds": never((socket, head) =>
    socket.write(`${rightHead(keyIn(head)).replaceAll("\r\n", "\n")}\n`),
  ),
  "a head without end": never((socket, head) =>
    flood(socket, rightHead(keyIn(head)), Buffer.from("x-a: bbbbbbbbbbbbb\r\n")),
  ),
  "a reset": never((socket) => socket.resetAndDestroy()),
  silence: never(() => undefined),
  "half a head": never((socket, head) => socket.end(rightHead(keyIn(head)))),
  "frames right behind the head": {
    opens: true,
    bot: (socket, head) =>
      flood(socket, `${rightHead(keyIn(head))}\r\n\x81\x01x`, Buffer.from("\x81\x01y", "latin1")),
  },
  "frames that are none": {
    opens: true,
    bot: (socket, head) => flood(socket, `${rightHead(keyIn(head))}\r\n`, Buffer.alloc(4_096, 0xff)),
  },
  "a frame without end": {
    opens: true,
    bot: (socket, head) =>
      flood(
        socket,
        `${rightHead(keyIn(head))}\r\n\x82\x7f\x00\x00\xff\xff\xff\xff\xff\xff`,
        Buffer.alloc(65_536),
      ),
  },
  "an end without a close": {
    opens: true,
    bot: (socket, head) => void socket.end(`${rightHead(keyIn(head))}\r\n`),
  },
};

function never(bot: EvilBot): { opens: boolean; bot: EvilBot } {
  return { opens: false, bot };
}

function keyIn(head: string): string {
  return /sec-websocket-key: (\S+)/i.exec(head)?.[1] ?? "";
}

/** Sends the same chunk as fast as it is read. */
function flood(socket: Socket, start: string, chunk: Buffer): void {
  const many = Buffer.concat(Array.from({ length: Math.ceil(32_768 / chunk.length) }, () => chunk));
  socket.write(start, "latin1");
  const pump = (): void => {
    if (socket.destroyed) return;
    if (socket.write(many)) setImmediate(pump);
    else socket.once("drain", pump);
  };
  pump();
}

function drip(socket: Socket, text: string): void {
  let at = 0;
  const timer = setInterval(() => {
    if (socket.destroyed) return clearInterval(timer);
    socket.write(text[at % text.length] ?? "");
    at += 1;
  }, 5);
}
