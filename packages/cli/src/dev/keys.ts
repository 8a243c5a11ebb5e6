/** What single keys do while a command runs on a terminal. */
export function listenToKeys(actions: Readonly<Record<string, () => void>>): Disposable {
  const { stdin } = process;
  if (!stdin.isTTY) return { [Symbol.dispose]: () => undefined };
  const onData = (bytes: Buffer): void => {
    for (const key of bytes.toString()) {
      if (key === CTRL_C) process.kill(process.pid, "SIGINT");
      else actions[key.toLowerCase()]?.();
    }
  };
  stdin.setRawMode(true);
  stdin.on("data", onData).resume();
  return {
    [Symbol.dispose]() {
      stdin.off("data", onData).pause();
      stdin.setRawMode(false);
    },
  };
}

const CTRL_C = "\u0003"; // in raw mode the terminal sends it as a key
