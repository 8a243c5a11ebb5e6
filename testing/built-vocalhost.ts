// The command line as it is built: what `packages/cli/bin/vocalhost.js` does where there are no sources.
import { pathToFileURL } from "node:url";
import { programOf } from "./programs.ts";

const { main } = (await import(pathToFileURL(programOf("cli", "main")).href)) as {
  main(words: string[]): Promise<number>;
};
process.exitCode = await main(process.argv.slice(2));
