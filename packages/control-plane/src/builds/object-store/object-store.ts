/**
 * Stores uploads and builds where every controller finds them. The data folder still holds the files this machine
 * uses; without an object store it holds the only copy.
 */
export interface ObjectStore extends Disposable {
  /** Resolves when the whole file is stored. */
  put(key: string, file: string): Promise<void>;
  /** Writes the object to a new file, atomically; returns false if there is none. */
  fetch(key: string, file: string): Promise<boolean>;
  has(key: string): Promise<boolean>;
  move(key: string, to: string): Promise<void>;
  /** Does nothing if there is no such object. */
  remove(key: string): Promise<void>;
  list(prefix: string): AsyncIterable<KeptObject>;
}

export interface KeptObject {
  key: string;
  putAtMs: number;
}
