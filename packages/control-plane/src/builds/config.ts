/** What the builder and the package manager it starts inherit: where to find programs, and the way to the registry. */
export function builderEnvironment(
  environment: Record<string, string | undefined> = process.env,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) =>
      value !== undefined && INHERITED.test(name) ? [[name, value]] : [],
    ),
  );
}

// Not what npm sets for the scripts it runs: that is about another package.
const INHERITED =
  /^(?:PATH|HOME|LANG|TZ|TMPDIR|NODE_EXTRA_CA_CERTS|SSL_CERT_FILE|SSL_CERT_DIR|(?:https?|no|all)_proxy|npm_config_(?:registry|cache|cafile|proxy|https_proxy|noproxy|userconfig))$/i;
