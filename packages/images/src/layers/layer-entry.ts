/** A file, folder or link of a layer. */
export type LayerEntry = EntryPlace &
  (
    | { kind: "directory" }
    /** Path of a file of this machine, or its bytes. */
    | { kind: "file"; source: string | Uint8Array }
    | { kind: "symlink"; target: string }
  );

export interface EntryPlace {
  /** Path from the image's root, with forward slashes and none in front. */
  path: string;
  mode: number;
  uid: number;
  gid: number;
}

/** Sorts by bytes, which no locale changes; a folder comes before its contents. */
export function inOrder(entries: readonly LayerEntry[]): LayerEntry[] {
  const sorted = entries.toSorted((one, other) =>
    Buffer.compare(Buffer.from(one.path), Buffer.from(other.path)),
  );
  sorted.forEach(({ path }, at) => {
    if (path === "" || path.startsWith("/") || path.split("/").some((part) => ["", ".", ".."].includes(part)))
      throw new Error(`'${path}' is not a path inside of an image`);
    if (sorted[at + 1]?.path === path) throw new Error(`'${path}' is twice in a layer`);
  });
  return sorted;
}
