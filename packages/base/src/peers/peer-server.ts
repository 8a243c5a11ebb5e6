import type { RequestListener } from "node:http";
import { createServer, type Server } from "node:https";
import { checkServerIdentity, type TLSSocket } from "node:tls";
import type { Log } from "../log.ts";
import type { PeerCredentials } from "./peer-credentials.ts";
import { peerNames } from "./peer-names.ts";

export interface PeerServerOptions {
  credentials: PeerCredentials;
  headersMaxBytes: number;
  log: Pick<Log, "warn">;
}

const SAID_AGAIN_MS = 60_000; // limits what unauthenticated clients can write to the log

/** Accepts only gateways: the server reads no byte of a request before the client's certificate is verified. */
export function createPeerServer(handler: RequestListener, options: PeerServerOptions): Server {
  const { credentials, log } = options;
  const server = createServer(
    {
      ...credentials.current,
      requestCert: true,
      rejectUnauthorized: true,
      minVersion: "TLSv1.3",
      maxHeaderSize: options.headersMaxBytes,
    },
    handler,
  );
  credentials.onChange((secrets) => server.setSecureContext({ ...secrets, minVersion: "TLSv1.3" }));
  let silentUntilMs = 0;

  function refused(from: string | undefined, why: string): void {
    const nowMs = performance.now();
    if (nowMs < silentUntilMs) return;
    silentUntilMs = nowMs + SAID_AGAIN_MS;
    log.warn({ from, why }, "somebody who is no gateway was turned away");
  }

  server.prependListener("secureConnection", (socket: TLSSocket) => {
    const problem = checkServerIdentity(peerNames.gateway, socket.getPeerCertificate());
    if (!problem) return;
    refused(socket.remoteAddress, problem.message);
    socket.destroy();
  });
  server.on("tlsClientError", (error, socket) => refused(socket.remoteAddress, error.message));
  return server;
}
