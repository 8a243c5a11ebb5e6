import { existsSync } from "node:fs";
import { resolve } from "node:path";

/** How controllers and gateways meet when they are not on one machine. */
export interface PeersConfig {
  /** Where the controller listens for gateways. */
  listen: PeerAddress | undefined;
  /** Where gateways find controllers; a name may stand for several of them. */
  controllers: PeerAddress[];
  files: PeerFiles;
}

export interface PeerAddress {
  host: string;
  port: number;
}

export interface PeerFiles {
  /** Of the authority that signed the others' certificates. */
  ca: string;
  cert: string;
  key: string;
}

/** Undefined: over a local socket. Throws an error whose message names the setting that is wrong. */
export function readPeers(text: (name: string) => string | undefined): PeersConfig | undefined {
  const listen = readAddress("CONTROLLER_LISTEN", text("CONTROLLER_LISTEN"));
  const named = (text("CONTROLLERS") ?? "")
    .split(",")
    .flatMap((part) => readAddress("CONTROLLERS", part.trim()) ?? []);
  if (!listen && named.length === 0) return undefined;
  const controllers = named.length === 0 && listen ? [{ ...listen, host: ownHost(listen.host) }] : named;
  const [ca, cert, key] = ["PEER_CA", "PEER_CERT", "PEER_KEY"].map((name) => readFile(name, text(name)));
  return { listen, controllers, files: { ca: ca!, cert: cert!, key: key! } };
}

function readAddress(name: string, text: string | undefined): PeerAddress | undefined {
  if (!text) return undefined;
  const [, bracketed, plain, port] = /^(?:\[([0-9a-f:.]+)\]|([^:[\]\s/]+)):(\d{1,5})$/i.exec(text) ?? [];
  const host = bracketed ?? plain;
  if (host !== undefined && Number(port) <= 65_535) return { host, port: Number(port) };
  throw new Error(`VOCALHOST_${name} must be an address with a port such as 10.0.0.5:7871, got "${text}"`);
}

function ownHost(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  return host === "::" ? "::1" : host;
}

function readFile(name: string, text: string | undefined): string {
  if (text === undefined)
    throw new Error(
      `VOCALHOST_${name} is missing: controllers and gateways that meet over the network show each other certificates, see docs/hosted/many-machines.md`,
    );
  if (!existsSync(text)) throw new Error(`VOCALHOST_${name}: there is no file ${text}`);
  return resolve(text);
}
