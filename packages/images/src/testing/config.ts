/** What programs need to be found, nothing of npm's scripts, and more. */
export function environmentForTests(more: Record<string, string>): NodeJS.ProcessEnv {
  const { PATH, HOME } = process.env;
  return { PATH, HOME, ...more };
}
