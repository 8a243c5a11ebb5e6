/**
 * Returns the arguments for Node programs we start. Their export conditions must be ours, or they load other files of
 * a package.
 */
export function inheritedArguments(execArguments: readonly string[] = process.execArgv): string[] {
  return execArguments.flatMap((argument, index) => {
    if (/^(?:--conditions|-C)=/.test(argument)) return [argument];
    if (argument === "--conditions" || argument === "-C")
      return [argument, ...execArguments.slice(index + 1, index + 2)];
    return [];
  });
}
