import { readFileSync, statSync } from "node:fs";
import type { Log } from "../log.ts";
import type { PeerFiles } from "./peer-config.ts";

/**
 * The certificate and key of this process, and the authority it trusts. Reloads the files, because certificates are
 * renewed.
 */
export interface PeerCredentials extends Disposable {
  readonly current: PeerSecrets;
  onChange(listener: (secrets: PeerSecrets) => void): void;
}

export interface PeerSecrets {
  ca: string;
  cert: string;
  key: string;
}

const LOOK_AGAIN_MS = 60_000; // certificates are renewed days before they expire

export function openPeerCredentials(
  files: PeerFiles,
  { log, lookAgainMs = LOOK_AGAIN_MS }: { log: Pick<Log, "info" | "warn">; lookAgainMs?: number },
): PeerCredentials {
  const listeners = new Set<(secrets: PeerSecrets) => void>();
  let current = read(files);
  let stamp = stampOf(files);
  const timer = setInterval(look, lookAgainMs).unref();

  function look(): void {
    try {
      const found = stampOf(files);
      if (found === stamp) return;
      current = read(files);
      stamp = found;
      for (const listener of listeners) listener(current);
      log.info({ file: files.cert }, "certificate was renewed");
    } catch (error) {
      log.warn({ err: error }, "certificate could not be read again, the old one is still used");
    }
  }

  return {
    get current() {
      return current;
    },
    onChange: (listener) => void listeners.add(listener),
    [Symbol.dispose]: () => clearInterval(timer),
  };
}

function read({ ca, cert, key }: PeerFiles): PeerSecrets {
  const text = (file: string): string => readFileSync(file, "utf8");
  return { ca: text(ca), cert: text(cert), key: text(key) };
}

function stampOf({ ca, cert, key }: PeerFiles): string {
  return [ca, cert, key].map((file) => statSync(file).mtimeMs).join(" ");
}
