import { ApiError } from "@vocalhost/protocol";

/** An error for the reader. */
export interface Problem {
  title: string;
  /** The service's message, or a fix. */
  detail: string;
}

export function toProblem(error: unknown): Problem {
  if (error instanceof ApiError) return toRefusal(error);
  if (error instanceof DOMException && error.name === "TimeoutError")
    return {
      title: "The service did not answer in time",
      detail: "It may be busy or restarting. Try again.",
    };
  return {
    title: "The service cannot be reached",
    detail: "Check your connection, and that the service is running.",
  };
}

/** In one sentence. */
export function toSentence(error: unknown): string {
  const { title, detail } = toProblem(error);
  return detail === "" ? title : `${title}: ${detail}`;
}

export function isSignedOut(error: unknown): boolean {
  return error instanceof ApiError && error.status === 401;
}

export function isMissing(error: unknown): boolean {
  return error instanceof ApiError && error.status === 404;
}

function toRefusal(error: ApiError): Problem {
  const detail = [error.message, ...fieldProblems(error.detail)].join(". ");
  switch (error.status) {
    case 400:
    case 409:
    case 422:
      return { title: "The service refused the request", detail };
    case 401:
      return { title: "You are signed out", detail: "Sign in again to continue." };
    case 403:
      return {
        title: "You are not allowed to do this",
        detail: error.message === "Access denied" ? "Your role in this organisation is read-only." : detail,
      };
    case 404:
      return { title: "Not found", detail };
    case 413:
      return { title: "Too large", detail };
    case 429:
      return { title: "Too many requests", detail: "Wait a moment and try again." };
    case 503:
      return {
        title: "The service cannot do this right now",
        detail: "It is busy or restarting. Try again.",
      };
    default:
      return { title: "Something went wrong in the service", detail: `${detail} (${error.status})` };
  }
}

function fieldProblems(detail: unknown): string[] {
  if (!Array.isArray(detail)) return [];
  return detail.flatMap((each: unknown) => {
    const { loc, msg } = (each ?? {}) as { loc?: unknown[]; msg?: unknown };
    if (typeof msg !== "string") return [];
    return [`${(loc ?? []).slice(1).join(".") || "request"}: ${msg}`];
  });
}
