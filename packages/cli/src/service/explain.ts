import { ApiError } from "@vocalhost/protocol";
import { unreachable } from "../connection-problem.ts";
import { Problem } from "../problem.ts";

/** The service that was asked. */
interface Asked {
  apiUrl: string;
}

/** Turns the service's refusals into a `Problem`; `about` names the thing that does not exist. */
export async function explained<T>(
  { apiUrl }: Asked,
  work: Promise<T>,
  about: { subject?: string; missing?: string[] } = {},
): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw serviceProblem(error, { apiUrl, ...about });
  }
}

export function aboutAgent<T>(service: Asked, name: string, work: Promise<T>): Promise<T> {
  return explained(service, work, {
    subject: `the agent '${name}'`,
    missing: ["See which exist: vocalhost agent list", `Create it: vocalhost deploy ${name}`],
  });
}

export function aboutSession<T>(service: Asked, id: string, work: Promise<T>): Promise<T> {
  return explained(service, work, {
    subject: `the session ${id}`,
    missing: ["See which exist: vocalhost agent sessions"],
  });
}

export function isMissing(error: unknown): boolean {
  return error instanceof ApiError && error.status === 404;
}

/** The subject of a request, for "not found". */
interface Asked {
  apiUrl: string;
  /** `the agent 'my-agent'` */
  subject?: string | undefined;
  /** Fixes to show if it does not exist. */
  missing?: string[];
}

/** Explains a refusal or a failed connection. Other errors are returned as they are. */
function serviceProblem(error: unknown, asked: Asked): unknown {
  if (error instanceof ApiError) return refusal(error, asked);
  const isFetch = error instanceof TypeError && error.message === "fetch failed";
  if (!isFetch && !(error instanceof DOMException && error.name === "TimeoutError")) return error;
  const { code, why } = unreachable(asked.apiUrl, error);
  return new Problem(code, `Cannot reach the service at ${toServiceUrl(asked.apiUrl)}`, {
    why,
    fixes: [...(CONNECT_FIXES[code] ?? []), ELSEWHERE],
    cause: error,
  });
}

const ELSEWHERE =
  "Is it somewhere else? Name it with VOCALHOST_API_URL, or sign in there: vocalhost auth login --url …";
const CONNECT_FIXES: Partial<Record<string, string[]>> = {
  connection_refused: ["Is it running? Start it with: vocalhost up"],
  host_unknown: ["Check the address for typos."],
  timed_out: ["Is a firewall in between? vocalhost doctor checks every hop."],
  tls_failed: ["A service without TLS has an address that begins with http://."],
};

function refusal(error: ApiError, { apiUrl, subject, missing = [] }: Asked): Problem {
  const { status, code, cause } = { ...error, cause: error };
  const fields = fieldsOf(error.detail);
  const why = `The service answered ${status} ${code}.`;
  if (status === 401)
    return new Problem("not_signed_in", `The service does not accept your credentials: ${error.message}`, {
      why,
      fixes: ["Sign in again: vocalhost auth login", "See which credentials are used: vocalhost config show"],
      cause,
    });
  if (code === "QUOTA_EXCEEDED")
    return new Problem("quota_exceeded", error.message, {
      why,
      fixes: ["See what is used: vocalhost organizations quotas"],
      cause,
    });
  if (status === 403)
    return new Problem("not_allowed", `You are not allowed to do this: ${error.message}`, {
      why,
      fixes: [
        "Check who you are there: vocalhost auth whoami",
        "Ask an owner of the organisation for permission.",
      ],
      cause,
    });
  if (status === 404 && subject !== undefined)
    return new Problem("not_found", `There is no ${subject.replace(/^the /, "")}`, {
      why: `The service at ${toServiceUrl(apiUrl)} has none in your organisation.`,
      fixes: missing,
      cause,
    });
  if (code === "AGENT-1001")
    return new Problem("agent_not_ready", `${sentence(subject ?? "the agent")} does not take sessions yet`, {
      why: error.message,
      fixes: ["Check its state: vocalhost agent status", "See what it printed: vocalhost logs"],
      cause,
    });
  if (code === "AGENT-AT-CAPACITY")
    return new Problem("at_capacity", "All instances are in use", {
      why,
      fixes: ["Try again when a session has ended.", "Allow more: vocalhost deploy --max-agents …"],
      cause,
    });
  if (code === "UNEXPECTED_ANSWER" || code === String(status))
    return new Problem("unexpected_answer", error.message, {
      why: `The server at ${apiUrl} does not answer as this version of vocalhost expects.`,
      fixes: [
        "Is this the address of the API? It ends in /v1.",
        "Are vocalhost and the service the same version?",
      ],
      cause,
    });
  if (status >= 500)
    return new Problem("service_failed", `The service failed: ${error.message}`, {
      why,
      fixes: [
        "Try again; if it keeps failing, check the service's log.",
        "vocalhost doctor checks every hop.",
      ],
      cause,
    });
  const message = fields === "" ? error.message : `${error.message}: ${fields}`;
  return new Problem(code.toLowerCase().replaceAll("-", "_"), message, { why, fixes: missing, cause });
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** `region: Unknown region; image: …` */
function fieldsOf(detail: unknown): string {
  if (!Array.isArray(detail)) return "";
  const fields = detail.map((problem: { loc?: unknown[]; msg?: unknown }) => {
    const place = (problem.loc ?? []).filter((part) => part !== "body").join(".");
    return place === "" ? String(problem.msg) : `${place}: ${String(problem.msg)}`;
  });
  return [...new Set(fields)].slice(0, SHOWN_FIELDS).join("; ");
}

const SHOWN_FIELDS = 5;

/** Base of the REST API, from the address of a service with or without `/v1`. */
export function toBaseUrl(address: string): string {
  return `${toServiceUrl(address)}/v1`;
}

/** Address of the service itself, where the dashboard is. */
export function toServiceUrl(address: string): string {
  return address.replace(/\/+$/, "").replace(/\/v1$/, "");
}
