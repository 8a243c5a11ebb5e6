const LEAST_SHARE = 0.5;

/** Tells by the voice filter's judgement whether the caller speaks. Without a judgement every voice is the caller's. */
export class NearTalker {
  #before: number | undefined;

  /** Takes the judgement of each frame in order; a window of the voice detector lies in about two frames. */
  hear(share: number | undefined): boolean {
    const before = this.#before ?? share;
    this.#before = share;
    return share === undefined || before === undefined || (share + before) / 2 >= LEAST_SHARE;
  }
}
