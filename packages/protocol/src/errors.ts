/** Every error a caller can meet, in one table. Compare `code`, never the text. */
export const errorTable = {
  INVALID_REQUEST: { status: 422, retryable: false, message: "The request body is not valid" },
  MALFORMED_JSON: { status: 400, retryable: false, message: "The request body is not valid JSON" },
  BODY_TOO_DEEP: { status: 400, retryable: false, message: "The request body is nested too deeply" },
  CARRIER_UNKNOWN: { status: 400, retryable: false, message: "Unknown telephony carrier" },
  TRANSPORT_UNKNOWN: { status: 400, retryable: false, message: "Unknown transport" },
  TRANSPORT_NOT_ALLOWED: { status: 400, retryable: false, message: "Transport is not allowed" },
  TRANSPORT_DISABLED: { status: 400, retryable: false, message: "Transport is disabled" },
  INVALID_SDP: { status: 400, retryable: false, message: "The session description is not valid" },
  INVALID_WEBRTC_REQUEST: { status: 400, retryable: false, message: "Invalid WebRTC request" },
  PEER_NOT_FOUND: { status: 404, retryable: false, message: "Peer connection not found" },
  SESSION_NOT_FOUND: {
    status: 404,
    retryable: false,
    message: "Invalid or not-yet-ready session_id",
  },
  NOT_FOUND: { status: 404, retryable: false, message: "Not found" },
  METHOD_NOT_ALLOWED: { status: 405, retryable: false, message: "Method not allowed" },
  ACCESS_DENIED: { status: 403, retryable: false, message: "Access denied" },
  HOST_NOT_ALLOWED: { status: 403, retryable: false, message: "Host is not allowed" },
  ORIGIN_NOT_ALLOWED: { status: 403, retryable: false, message: "Origin is not allowed" },
  SIGNATURE_INVALID: {
    status: 403,
    retryable: false,
    message: "The carrier's signature is missing or does not match this address and body",
  },
  TOKEN_INVALID: { status: 403, retryable: false, message: "Invalid WebSocket token" },
  PAYLOAD_TOO_LARGE: { status: 413, retryable: false, message: "The request body is too large" },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    retryable: false,
    message: "Send the body as uncompressed application/json",
  },
  TOO_MANY_SESSIONS: { status: 429, retryable: true, message: "Too many concurrent sessions" },
  INTERNAL_SERVER_ERROR: { status: 500, retryable: false, message: "Internal server error" },
  SHUTTING_DOWN: { status: 503, retryable: true, message: "The server is shutting down" },
  BOT_NOT_READY: { status: 503, retryable: true, message: "The bot is still starting" },
  VOICE_FILTER_NOT_ATTACHED: {
    status: 409,
    retryable: false,
    message:
      "No voice filter is at work in this session: the deployment or the bot does not use it, or not yet",
  },
  ROOMS_UNAVAILABLE: { status: 503, retryable: true, message: "No room can be made right now" },
  ROOM_REFUSED: { status: 502, retryable: false, message: "The room's provider refused the request" },
  CARRIER_REFUSED: { status: 502, retryable: false, message: "The carrier refused the request" },
  CARRIER_NOT_CONFIGURED: {
    status: 400,
    retryable: false,
    message: "The carrier's account is not configured",
  },
  DIALOUT_NOT_ALLOWED: {
    status: 403,
    retryable: false,
    message: "Calls cost money: this credential may not place them",
  },
  ROOM_NOT_JOINABLE: { status: 500, retryable: false, message: "A bot cannot join this room" },
  VIVA_UNAVAILABLE_LOCALLY: {
    status: 500,
    retryable: false,
    message:
      "The voice filter exists only in the hosted service; guard vivaFilter() with ENV, which is 'local' in the runner",
  },

  // The hosted service
  UNAUTHORIZED: { status: 401, retryable: false, message: "Unauthorized" },
  GENERIC_BAD_REQUEST: { status: 400, retryable: false, message: "Invalid parameters" },
  CONFLICT: { status: 409, retryable: false, message: "The resource was changed by someone else" },
  RATE_LIMITED: { status: 429, retryable: true, message: "Too many requests with this key" },
  TOO_MANY_PENDING: {
    status: 429,
    retryable: true,
    message: "Too many sessions wait for their WebSockets",
  },
  QUOTA_EXCEEDED: { status: 403, retryable: false, message: "The organisation has used up its share" },
  TOO_MANY_BUILDS: { status: 429, retryable: true, message: "Too many builds wait or run" },
  "AGENT-1001": {
    status: 400,
    retryable: false,
    message: "Attempt to start agent when deployment is not in ready state. Is your image pull secret valid?",
  },
  "AGENT-1002": {
    status: 401,
    retryable: false,
    message: "Attempt to start an agent without a public API key",
  },
  "AGENT-AT-CAPACITY": {
    status: 429,
    retryable: true,
    message: "Rate limit exceeded. Please try again later: all instances of the agent are in use",
  },
  REGION_DOWN: { status: 503, retryable: true, message: "The region is down" },
  START_TIMED_OUT: { status: 504, retryable: false, message: "The bot did not start in time" },
  SERVICE_UNAVAILABLE: { status: 503, retryable: true, message: "The service cannot do this right now" },

  // The gateway
  INSTANCE_UNREACHABLE: {
    status: 502,
    retryable: false,
    message: "The session's instance did not respond as expected",
  },

  // Between controller and instance
  INSTANCE_TAKEN: { status: 409, retryable: false, message: "The instance is running another session" },
  EPOCH_STALE: { status: 409, retryable: false, message: "A newer controller has taken over" },
} as const satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof errorTable;

export interface ErrorRow {
  status: number;
  retryable: boolean;
  message: string;
}

/** One field that failed validation, in the shape clients of the runner expect. */
export interface FieldProblem {
  loc: (string | number)[];
  msg: string;
  type: string;
}

/** An error on the wire. Released clients show `detail`; `error` and `code` are ours. */
export interface ErrorBody {
  error: string;
  code: ErrorCode;
  detail: string | FieldProblem[];
}

export interface AppErrorOptions {
  /** Sentence for the caller. @default the table's message */
  message?: string;
  /** Fields that failed validation. */
  problems?: FieldProblem[];
  /** When asking again will help, where that is known. */
  retryAfterMs?: number | undefined;
  cause?: unknown;
}

export class AppError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly retryable: boolean;
  readonly problems: FieldProblem[] | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(code: ErrorCode, options: AppErrorOptions = {}) {
    const row = errorTable[code];
    super(options.message ?? row.message, { cause: options.cause });
    this.name = "AppError";
    this.code = code;
    this.status = row.status;
    this.retryable = row.retryable;
    this.problems = options.problems;
    this.retryAfterMs = options.retryAfterMs;
  }

  toBody(): ErrorBody {
    return { error: this.message, code: this.code, detail: this.problems ?? this.message };
  }
}

/** Recognises an `AppError` of any copy of this package. */
export function isAppError(error: unknown): error is AppError {
  if (!(error instanceof Error) || !("code" in error) || !("toBody" in error)) return false;
  return Object.hasOwn(errorTable, String(error.code));
}

/** Our codes for errors of the web framework that the client causes. */
export const frameworkErrorCodes: Readonly<Record<string, ErrorCode>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: "PAYLOAD_TOO_LARGE",
  FST_ERR_CTP_INVALID_MEDIA_TYPE: "UNSUPPORTED_MEDIA_TYPE",
  FST_ERR_CTP_EMPTY_TYPE: "UNSUPPORTED_MEDIA_TYPE",
  FST_ERR_BAD_URL: "NOT_FOUND",
  FST_ERR_MAX_PARAM_LENGTH: "NOT_FOUND",
};

/** A whole HTTP answer to bytes that are no request, by the code of the error they made. */
export function refusalOfBytes(errorCode: string | undefined, code: ErrorCode): string {
  const [status, message] = UNREADABLE[errorCode ?? ""] ?? [400, "Bad Request"];
  const body = JSON.stringify(new AppError(code, { message }).toBody());
  const head = [
    `HTTP/1.1 ${status} ${message}`,
    "content-type: application/json; charset=utf-8",
    `content-length: ${new TextEncoder().encode(body).length}`,
    "connection: close",
  ];
  return `${head.join("\r\n")}\r\n\r\n${body}`;
}

// Written out: importing Node's table of reasons costs every start of a bot 45 ms and 6 MB.
const UNREADABLE: Record<string, [status: number, reason: string]> = {
  ERR_HTTP_REQUEST_TIMEOUT: [408, "Request Timeout"],
  HPE_HEADER_OVERFLOW: [431, "Request Header Fields Too Large"],
};

/** A URL as it may be logged and repeated: its query may hold tokens. */
export function withoutQuery(url: string): string {
  return url.split("?", 1)[0] ?? url;
}
