import http from "node:http";
import type { Plugin } from "vite";

const QUICK = "\0quick:node:http";

/**
 * Importing `node:http` reads all it exports, also what Node loads its own HTTP client for: a sixth of what an instance
 * takes to start, for something it never uses. Asking the process for the module reads nothing.
 */
export function quickBuiltins(): Plugin {
  return {
    name: "quick-builtins",
    enforce: "pre",
    resolveId(id, _importer, options) {
      const isImported = (options as { kind?: string }).kind !== "require-call"; // which reads nothing either
      return id === "node:http" && isImported ? QUICK : undefined;
    },
    load: (id) => (id === QUICK ? quickHttp() : undefined),
  };
}

function quickHttp(): string {
  const names = Object.entries(Object.getOwnPropertyDescriptors(http)).flatMap(([name, { get }]) =>
    get ? [] : [name],
  );
  return [
    `const http = process.getBuiltinModule("node:http");`,
    `export const { ${names.join(", ")} } = http;`,
    "export default http;",
  ].join("\n");
}
