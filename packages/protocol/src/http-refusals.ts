import { AppError, type ErrorCode } from "./errors.ts";

/** What our code for an error of the web framework is, where it blames the caller. */
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
