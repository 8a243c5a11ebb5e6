/** An error for the operator who chose the port; its stack is of no use. */
export class MediaPortError extends Error {
  override readonly name = "MediaPortError";
}
