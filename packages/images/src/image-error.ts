/** Codes for failures with an image in a registry. Compare `code`, never the text. */
export type ImageErrorCode =
  | "REFERENCE_INVALID"
  | "IMAGE_NOT_FOUND"
  | "IMAGE_UNAUTHORIZED"
  | "IMAGE_WRONG_PLATFORM"
  | "REGISTRY_UNREACHABLE"
  /** It answered, but not as a registry does, or not with what was asked for. */
  | "REGISTRY_FAILED";

/** The message is one sentence for the user who named the image; it never holds credentials. */
export class ImageError extends Error {
  readonly code: ImageErrorCode;

  constructor(code: ImageErrorCode, message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.name = "ImageError";
    this.code = code;
  }
}
