/** Returns the variables of the machine that a bot's process inherits; it gets nothing else of our own environment. */
export function hostEnvironment(
  environment: Record<string, string | undefined> = process.env,
): Record<string, string> {
  return Object.fromEntries(
    INHERITED.flatMap((name) => {
      const value = environment[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

const INHERITED = ["PATH", "HOME", "LANG", "TZ", "TMPDIR"];
