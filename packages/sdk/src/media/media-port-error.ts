/** A sentence for whoever chose the port; where it was thrown helps nobody. */
export class MediaPortError extends Error {
  override readonly name = "MediaPortError";
}
