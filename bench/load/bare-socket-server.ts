// Child process: the messages of a /ws-client session over `ws` and nothing else, as a measure for the rest.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { WebSocketServer } from "ws";

const ANSWER = new Uint8Array(1_940); // 40 ms at 24 kHz and its envelope, for every second message of 20 ms

const server = createServer();
new WebSocketServer({ server, perMessageDeflate: false }).on("connection", (socket) => {
  let count = 0;
  socket.on("message", () => {
    count += 1;
    if (count % 2 === 0) socket.send(ANSWER);
  });
});
server.listen(0, "127.0.0.1", () => {
  process.stdout.write(`Talk to it http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
