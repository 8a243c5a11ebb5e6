import { ConfigError } from "./config-error.ts";

/** Imports a package that only some services need, or says how to install it. `needs` opens the sentence. */
export async function loadLibrary<Library>(
  name: string,
  { needs, load }: { needs: string; load: () => Promise<Library> },
): Promise<Library> {
  try {
    return await load();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== "ERR_MODULE_NOT_FOUND" || !message.includes(`'${name}'`)) throw error;
    throw new ConfigError(`${needs} the package ${name}. Install it: npm install ${name}`, { cause: error });
  }
}
