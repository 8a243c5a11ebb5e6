/**
 * Keeps uploads and builds where every controller finds them. The data folder still holds what this machine works with;
 * without an object store it holds all there is.
 */
export interface ObjectStore extends Disposable {
  /** Resolves when it is kept whole. */
  put(key: string, file: string): Promise<void>;
  /** Into a new file, whole or not at all; false when there is nothing of that name. */
  fetch(key: string, file: string): Promise<boolean>;
  has(key: string): Promise<boolean>;
  move(key: string, to: string): Promise<void>;
  /** Nothing of that name is fine. */
  remove(key: string): Promise<void>;
  list(prefix: string): AsyncIterable<KeptObject>;
}

export interface KeptObject {
  key: string;
  putAtMs: number;
}
