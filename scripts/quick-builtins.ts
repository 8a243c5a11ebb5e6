import { isBuiltin } from "node:module";
import type { Plugin } from "vite";

const IMPORT = /^import (?:(?:\* as )?(\w+))?(?:, )?(?:\{ (.+) \})? from "([^"]+)";$/gm;

/**
 * Importing one of Node's modules reads all it exports, also what Node loads other modules for when it is read: its HTTP
 * client with `node:http`, all of its streams with `node:fs`. Asking the process for the module reads only what was meant.
 */
export function quickBuiltins(): Plugin {
  return {
    name: "quick-builtins",
    renderChunk(code) {
      return code.replace(IMPORT, (whole, all: string | undefined, some: string | undefined, id: string) => {
        if (!isBuiltin(id)) return whole;
        const names = [all, some && `{ ${some.replaceAll(" as ", ": ")} }`].filter(Boolean);
        return names.map((each) => `const ${each} = process.getBuiltinModule("${id}");`).join(" ");
      });
    },
  };
}
