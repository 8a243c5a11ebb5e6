import { parsedBy, readSettings, list, type Settings } from "@vocalhost/protocol";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { z } from "zod";

const file = z
  .string()
  .refine((path) => existsSync(path), "must be a file that exists")
  .transform((path) => resolve(path))
  .optional();

export const peerSettings = {
  listen: {
    name: "VOCALHOST_CONTROLLER_LISTEN",
    schema: parsedBy(parseAddress).optional(),
    help: "address at which the controller takes gateways of other machines, such as `0.0.0.0:7871`, instead of that socket. With Postgres the controller then answers reads while another one leads",
  },
  controllers: {
    name: "VOCALHOST_CONTROLLERS",
    schema: list.pipe(z.array(parsedBy(parseAddress))).default([]),
    preset: "the one of this machine",
    help: "addresses at which gateways find controllers: `10.0.0.5:7871,10.0.0.6:7871`; a name may have several addresses",
  },
  ca: {
    name: "VOCALHOST_PEER_CA",
    schema: file,
    help: "file with the authority of the certificates that controllers and gateways show each other",
  },
  cert: { name: "VOCALHOST_PEER_CERT", schema: file, help: "file with the certificate of this machine" },
  key: { name: "VOCALHOST_PEER_KEY", schema: file, help: "file with the key of that certificate" },
} as const satisfies Settings;

/** How controllers and gateways connect when they run on different machines. */
export interface PeersConfig {
  /** Address at which the controller listens for gateways. */
  listen: PeerAddress | undefined;
  /** Addresses at which gateways find controllers. One name may resolve to several controllers. */
  controllers: PeerAddress[];
  files: PeerFiles;
}

export interface PeerAddress {
  host: string;
  port: number;
}

export interface PeerFiles {
  /** File of the certificate authority that signed the peers' certificates. */
  ca: string;
  cert: string;
  key: string;
}

/**
 * Returns undefined when controllers and gateways use a local socket. Throws an error that names the invalid setting.
 */
export function readPeers(environment: Record<string, string | undefined>): PeersConfig | undefined {
  const { listen, controllers, ca, cert, key } = readSettings(peerSettings, environment);
  if (!listen && controllers.length === 0) return undefined;
  if (!ca || !cert || !key)
    throw new Error(
      "VOCALHOST_PEER_CA, VOCALHOST_PEER_CERT and VOCALHOST_PEER_KEY are needed: controllers and gateways that meet over the network show each other certificates, see docs/hosted/many-machines.md",
    );
  const own = listen && controllers.length === 0 ? [{ ...listen, host: ownHost(listen.host) }] : [];
  return { listen, controllers: [...controllers, ...own], files: { ca, cert, key } };
}

function parseAddress(text: string): PeerAddress {
  const [, bracketed, plain, port] = /^(?:\[([0-9a-f:.]+)\]|([^:[\]\s/]+)):(\d{1,5})$/i.exec(text) ?? [];
  const host = bracketed ?? plain;
  if (host !== undefined && Number(port) <= 65_535) return { host, port: Number(port) };
  throw new Error("must be an address with a port such as 10.0.0.5:7871");
}

function ownHost(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  return host === "::" ? "::1" : host;
}
