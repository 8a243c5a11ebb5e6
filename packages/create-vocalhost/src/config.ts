/** The package manager this was started with, from what it says about itself: `pnpm/10.1.0 npm/? node/…`. */
export function startedBy(environment: Record<string, string | undefined> = process.env): string | undefined {
  return /^([a-z]+)\//.exec(environment["npm_config_user_agent"] ?? "")?.[1];
}

/** For the package manager: nothing of the one that may have started us. */
export function installEnvironment(): NodeJS.ProcessEnv {
  const entries = Object.entries(process.env).filter(([name]) => !/^(?:npm_|INIT_CWD$)/.test(name));
  return Object.fromEntries(entries);
}
