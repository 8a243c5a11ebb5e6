/** Makes images of bots' folders, where instances are made of images. */
export interface ImageBuilder {
  /** Rejects with `ImageBuildError` when its author can help it, with `DriverUnavailableError` when only we can. */
  build(task: ImageBuildTask): Promise<BuiltImage>;
  /** Whether instances can still be made of it. */
  has(reference: string): Promise<boolean>;
  /** Removes what was built or pulled here and is none of these. Answers how many. */
  keepOnly(references: ReadonlySet<string>): Promise<number>;
}

export interface ImageBuildTask {
  buildId: string;
  /** Whose it is: nobody else's layers are used for it. */
  organizationId: string;
  /** Says what it was made from, as the part of a name. */
  tag: string;
  /** The bot's files, as they are to be. Nobody else writes to it. */
  folder: string;
  /** Relative to the folder. Undefined: there is none, and the folder has its packages already. */
  dockerfilePath: string | undefined;
  say(line: string): void;
  signal: AbortSignal;
}

export interface BuiltImage {
  /** Means the same for ever. */
  reference: string;
  /** Of the base it was built on; undefined if on none. */
  baseVersion: string | undefined;
  /** What it has besides its base. */
  bytes: number;
}

/** Something the bot's author can fix; the text is for them. */
export class ImageBuildError extends Error {
  override readonly name = "ImageBuildError";
}
