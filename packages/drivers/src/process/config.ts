/** What a bot's process inherits of the machine; everything else of our own environment is none of its business. */
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
