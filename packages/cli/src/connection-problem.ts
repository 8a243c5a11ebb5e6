import { Problem } from "./problem.ts";
import { shownUrl } from "./results.ts";
import type { Signer } from "./webhook/signer.ts";

/** Explains why a server could not be reached. */
export function unreachable(url: string, error: unknown): Problem {
  const { code, message } = rootCause(error);
  const host = new URL(url).host;
  const known = REASONS[code];
  if (known)
    return new Problem(known.code, `Cannot connect to ${shownUrl(url)}`, {
      ...known.explain(host),
      cause: error,
    });
  if (/SSL|TLS|CERT|EPROTO/.test(code) || /SSL|certificate/i.test(message))
    return new Problem("tls_failed", `Cannot connect to ${shownUrl(url)}`, {
      why: `TLS failed: ${message}`,
      fixes: ["A runner on your own machine has no TLS: use ws:// and http:// there."],
      cause: error,
    });
  return new Problem("connect_failed", `Cannot connect to ${shownUrl(url)}`, { why: message, cause: error });
}

/** Explains why a server refused a request. */
export function refusedRequest(refusal: Refusal): Problem {
  const { what, status, url } = refusal;
  const said = saidBy(refusal.body);
  const message = `The ${what} at ${shownUrl(url)} answered ${status}${said ? `: ${said}` : ""}`;
  if (status === 401 || status === 403)
    return new Problem("refused", message, { fixes: refusalFixes(refusal) });
  if (status === 404)
    return new Problem("not_found", message, {
      fixes: [
        what === "webhook"
          ? "Is this the webhook's address? The runner's is http://localhost:7860/"
          : "Is this the stream's address? The runner's is ws://localhost:7860/ws",
        "Is telephony turned off there? A runner started with -t serves that transport only.",
      ],
    });
  if (status >= 300 && status < 400)
    return new Problem("redirected", message, {
      fixes: ["Carriers do not follow redirects: give the final address."],
    });
  if (status >= 500)
    return new Problem("server_failed", message, { fixes: ["Check the log of the runner or service."] });
  return new Problem("refused", message);
}

export interface Refusal {
  what: "webhook" | "stream";
  url: string;
  status: number;
  body: string;
  signer: Signer;
}

function refusalFixes({ what, signer }: Refusal): string[] {
  const { variable, counterpart, isThrowaway } = signer;
  const fixes: string[] = [];
  if (variable !== undefined && isThrowaway)
    fixes.push(
      `If signatures are checked there, give the secret with --signing-secret or ${variable}; this call used a random one.`,
    );
  if (variable !== undefined && !isThrowaway)
    fixes.push(
      `If signatures are checked there, it needs ${counterpart}, and --public-url if it knows itself by another address.`,
    );
  if (what === "stream")
    fixes.push(
      "If a token is needed there, get one from POST /start and give it with --token, or call through --webhook.",
      "If the host name is unknown there, start the runner with --proxy <host name>.",
    );
  return fixes;
}

interface Reason {
  code: string;
  explain: (host: string) => { why: string; fixes: string[] };
}

const REASONS: Partial<Record<string, Reason>> = {
  ECONNREFUSED: {
    code: "connection_refused",
    explain: (host) => ({
      why: `Nothing listens at ${host} (connection refused).`,
      fixes: [
        "Is the runner running? Start it with: node bot.ts",
        "Does it listen on another port? Then give its address.",
      ],
    }),
  },
  ENOTFOUND: {
    code: "host_unknown",
    explain: (host) => ({
      why: `Host ${host} not found.`,
      fixes: ["Check the address for typos."],
    }),
  },
  ECONNRESET: {
    code: "connection_reset",
    explain: (host) => ({
      why: `${host} hung up during the handshake.`,
      fixes: ["Is it a WebSocket server, and is wss:// or ws:// right?"],
    }),
  },
  TIMED_OUT: {
    code: "timed_out",
    explain: (host) => ({
      why: `${host} did not answer in time; a carrier would hang up too.`,
      fixes: ["Is a firewall in between? Is the server busy or stuck?"],
    }),
  },
};

function rootCause(error: unknown): { code: string; message: string } {
  let cause = error;
  while (cause instanceof Error && cause.cause instanceof Error) cause = cause.cause;
  // Node tries several addresses at once and reports them together.
  if (cause instanceof AggregateError && cause.errors[0] instanceof Error) cause = cause.errors[0];
  if (!(cause instanceof Error)) return { code: "", message: String(cause) };
  if (cause.name === "TimeoutError") return { code: "TIMED_OUT", message: cause.message };
  return { code: "code" in cause ? String(cause.code) : "", message: cause.message };
}

const SHOWN_CHARACTERS = 200;

function saidBy(body: string): string {
  try {
    const { error, detail, message } = JSON.parse(body) as Record<string, unknown>;
    const sentence = [error, detail, message].find((value) => typeof value === "string");
    if (sentence !== undefined) return sentence.slice(0, SHOWN_CHARACTERS);
  } catch {
    // Not JSON; plain text is as good.
  }
  return body.trim().startsWith("<") ? "" : body.trim().slice(0, SHOWN_CHARACTERS);
}
