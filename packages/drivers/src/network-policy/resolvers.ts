import { readFile } from "node:fs/promises";
import { isIP } from "node:net";

// Behind a resolver of this machine's own, the second file has those it asks.
const FILES = ["/etc/resolv.conf", "/run/systemd/resolve/resolv.conf"];

/** Whom this machine asks for names; engines hand them on to containers, less those on loopback. */
export async function readResolvers(): Promise<string[]> {
  const texts = await Promise.all(FILES.map((file) => readFile(file, "utf8").catch(() => "")));
  const addresses = texts.flatMap((text) =>
    [...text.matchAll(/^\s*nameserver\s+([\da-fA-F.:]+)/gm)].map(([, address = ""]) => address),
  );
  return [...new Set(addresses)].filter((address) => isIP(address) > 0 && !/^(?:127\.|::1$)/.test(address));
}
