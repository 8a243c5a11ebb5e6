/** For Node programs we start: our own conditions decide which files of a package are meant, and they must agree. */
export function inheritedArguments(execArguments: readonly string[] = process.execArgv): string[] {
  return execArguments.flatMap((argument, index) => {
    if (/^(?:--conditions|-C)=/.test(argument)) return [argument];
    if (argument === "--conditions" || argument === "-C")
      return [argument, ...execArguments.slice(index + 1, index + 2)];
    return [];
  });
}
