import { wholeNumber, yesOrNo, type Settings } from "@vocalhost/protocol";
import { BUILDERS_MAX } from "@vocalhost/drivers/process/own-users";
import { availableParallelism } from "node:os";

const HALF_THE_CORES = Math.floor(availableParallelism() / 2); // calls need the others

export const buildSettings = {
  buildsAtOnce: {
    name: "VOCALHOST_BUILDS_AT_ONCE",
    schema: wholeNumber({ min: 1, max: BUILDERS_MAX }).default(Math.max(1, Math.min(4, HALF_THE_CORES))),
    preset: "half the cores, 1 to 4",
    help: `builds that run at the same time; organisations take turns. At most ${BUILDERS_MAX}`,
  },
  allowsForeignPackages: {
    name: "VOCALHOST_FOREIGN_PACKAGES",
    schema: yesOrNo.default(false),
    help: "lets builds take packages from Git or any address, not only from the registry",
  },
} as const satisfies Settings;

/**
 * Returns the environment of the builder and its package manager: paths of programs, and the settings of the
 * registry.
 */
export function builderEnvironment(
  environment: Record<string, string | undefined> = process.env,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) =>
      value !== undefined && INHERITED.test(name) ? [[name, value]] : [],
    ),
  );
}

// Excludes the variables npm sets for scripts, which concern another package.
const INHERITED =
  /^(?:PATH|HOME|LANG|TZ|TMPDIR|NODE_EXTRA_CA_CERTS|SSL_CERT_FILE|SSL_CERT_DIR|(?:https?|no|all)_proxy|npm_config_(?:registry|cache|cafile|proxy|https_proxy|noproxy|userconfig))$/i;
