/** Enough of an id to recognise it. */
export function shortId(id: string): string {
  return id.slice(0, 8);
}
