/** Returns the variables programs need to find files, without those of npm's scripts, plus the given ones. */
export function environmentForTests(more: Record<string, string>): NodeJS.ProcessEnv {
  const { PATH, HOME } = process.env;
  return { PATH, HOME, ...more };
}
