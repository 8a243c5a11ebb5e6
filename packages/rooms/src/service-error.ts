/** Twirp's error codes and the statuses they travel with. */
const STATUSES = {
  bad_route: 404,
  malformed: 400,
  invalid_argument: 400,
  unauthenticated: 401,
  permission_denied: 403,
  not_found: 404,
  canceled: 408,
  failed_precondition: 412,
  resource_exhausted: 429,
  internal: 500,
  unimplemented: 501,
  unavailable: 503,
} as const;

export class ServiceError extends Error {
  readonly code: keyof typeof STATUSES;
  readonly status: number;

  constructor(code: keyof typeof STATUSES, message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
    this.status = STATUSES[code];
  }
}
