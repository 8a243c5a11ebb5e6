const PREFIX = "pcc_pat_";

/** A bearer token without what other command lines insist on before it: theirs is `pcc_pat_` and then our key. */
export function withoutForeignPrefix(token: string): string {
  return token.startsWith(PREFIX) ? token.slice(PREFIX.length) : token;
}
