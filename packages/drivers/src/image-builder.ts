/** Makes images of bots' folders, where instances are made of images. */
export interface ImageBuilder {
  /** Rejects with `ImageBuildError` when its author can help it, with `DriverUnavailableError` when only we can. */
  build(task: ImageBuildTask): Promise<BuiltImage>;
  /** Tells whether instances can still be made of the image. */
  has(reference: string): Promise<boolean>;
  /** Removes what was built or pulled here and is none of these. Answers how many. */
  keepOnly(references: ReadonlySet<string>): Promise<number>;
}

export interface ImageBuildTask {
  buildId: string;
  /** The build uses no layers of other organisations. */
  organizationId: string;
  /** Says what it was made from, as the part of a name. */
  tag: string;
  /** The bot's files. No other process writes to the folder. */
  folder: string;
  /** Relative to the folder. Undefined: there is none, and the folder has its packages already. */
  dockerfilePath: string | undefined;
  say(line: string): void;
  signal: AbortSignal;
}

export interface BuiltImage {
  /** Means the same for ever. */
  reference: string;
  /** Version of the base; undefined if it was built on another image. */
  baseVersion: string | undefined;
  /** Bytes that it adds to its base. */
  bytes: number;
}

/** Something the bot's author can fix; the text is for them. */
export class ImageBuildError extends Error {
  override readonly name = "ImageBuildError";
}
