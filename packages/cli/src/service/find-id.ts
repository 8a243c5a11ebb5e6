import { Problem } from "../problem.ts";

export interface IdSearch {
  /** `session`, `build` … */
  what: string;
  /** The command that lists them. */
  listedBy: string;
  /** Those that a beginning can stand for. */
  known(): Promise<string[]>;
}

/** The id that was meant: given as a whole, or by its beginning, as our tables show it. */
export async function findId(given: string, { what, listedBy, known }: IdSearch): Promise<string> {
  const wanted = given.toLowerCase();
  if (WHOLE_ID.test(wanted)) return wanted;
  const found = BEGINNING.test(wanted) ? (await known()).filter((id) => id.startsWith(wanted)) : [];
  if (found.length === 1 && found[0] !== undefined) return found[0];
  const message =
    found.length === 0 ? `There is no ${what} ${given}` : `Several ${what}s start with ${given}`;
  throw new Problem("not_found", message, {
    ...(found.length === 0 ? {} : { why: `They are ${found.slice(0, SHOWN_MAX).join(", ")}.` }),
    fixes: [`See which exist: ${listedBy}`],
  });
}

const WHOLE_ID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;
const BEGINNING = /^[\da-f][\da-f-]{1,35}$/;
const SHOWN_MAX = 3;
