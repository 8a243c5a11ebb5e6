import type { Plugin, Rolldown } from "vite";

/**
 * What packages ask for when they are loaded, and need for things that seldom happen or never: by file, the names they give
 * it. It is asked for where the name is used instead. Node's HTTP/2 alone was a twentieth of what an instance takes to start.
 */
const LATER: Record<string, string[]> = {
  "fastify/lib/server.js": ["https", "http2"],
  "fastify/lib/logger-factory.js": ["performance"],
  "fastify/lib/plugin-utils.js": ["semver"],
  "find-my-way/index.js": ["isRegexSafe"],
  "ws/lib/websocket.js": ["https", "tls"],
  "ws/lib/permessage-deflate.js": ["zlib"],
  "pino/lib/tools.js": ["isMainThread"],
  "pino/lib/transport.js": ["ThreadStream"],
  "@fastify/websocket/index.js": ["Duplexify"],
  "@fastify/static/index.js": ["glob"],
};

/** What packages find out or compile with every start, and is known when they are put together. */
const KNOWN: Record<string, [RegExp, string][]> = {
  // Only whoever gives routes a schema of their own needs a compiler of schemas.
  "fastify/lib/schema-controller.js": [
    [
      /const (\w+) = (require\('[^']+'\))\n\s*(compilersFactory\.\w+) = \1\(\)/g,
      "let $1\n    $3 = (...given) => ($1 ??= $2())(...given)",
    ],
  ],
  "find-my-way/index.js": [[/if \(!isRegexSafe\(\w+\)\) \{\n {2}throw new Error\(.*\)\n\}/g, ""]],
  // A function compiled for each piece of a path is worth it after thousands of requests.
  "find-my-way/lib/node.js": [[/if \(prefix\.length >= LONG_PREFIX_MIN_LENGTH\)/, "if (prefix.length > 1)"]],
  "find-my-way/lib/handler-storage.js": [
    [/new Function\(/g, "compiledOnce("],
    [
      /$/,
      "const compiled = new Map()\nfunction compiledOnce (name, body) {\n" +
        "  if (!compiled.has(body)) compiled.set(body, new Function(name, body))\n  return compiled.get(body)\n}\n",
    ],
  ],
  "@fastify/websocket/index.js": [[/fastify: '5\.x',/, ""]],
  "@fastify/static/index.js": [[/fastify: '5\.x',/, ""]],
  "@fastify/multipart/index.js": [[/fastify: '5\.x',/, ""]],
  "@fastify/swagger/index.js": [[/fastify: '5\.x',/, ""]],
};

/** Of what is asked for later: large enough for a file of its own, which most processes never read. */
const OWN_FILE =
  /(?<!^const \w+ = )\brequire\('(@fastify\/ajv-compiler|@fastify\/fast-json-stringify-compiler|light-my-request|semver|duplexify|glob|thread-stream)'\)/gm;

const FOLDER = "later";

/** Of zod, which gives bots all its languages. */
const LANGUAGES = "zod/v4/locales/index.js";

/** For programs that are put together from packages; says so when a package has changed. */
export function loadLater(): Plugin {
  return {
    name: "load-later",
    enforce: "pre",
    resolveId: (id) => (id.startsWith(`./${FOLDER}/`) ? { id, external: true } : undefined),
    transform(code, id) {
      const [, file = ""] = /\/node_modules\/((?:@[^/]+\/)?[^/]+\/[^?]+)$/.exec(id) ?? [];
      if (file === LANGUAGES && !id.endsWith("?all")) return languages(this, code, id);
      if (!/^(?:fastify|@fastify|find-my-way|ws|pino)\//.test(file)) return undefined;
      const known = (KNOWN[file] ?? []).reduce((text, [what, by]) => changed(text, what, by, file), code);
      const later = (LATER[file] ?? []).reduce((text, name) => askLater(text, name, file), known);
      return later.replace(OWN_FILE, (_whole, name: string) => {
        const path = ownFile(this, name, id);
        return `require('${path}').default`;
      });
    },
  };
}

/** Puts it in a file of its own, and gives the path to it from where all parts are. */
function ownFile(context: Rolldown.PluginContext, id: string, importer: string): string {
  const fileName = `${FOLDER}/${id.replace(/^.*\/node_modules\/|\/v4|\/index\.js.*$/g, "").replace("/", "-")}.js`;
  context.emitFile({ type: "chunk", id, importer, fileName: `parts/${fileName}` });
  return `./${fileName}`;
}

/** Each is a function; one that loads them all first will do. */
function languages(context: Rolldown.PluginContext, code: string, id: string): string {
  const path = ownFile(context, `${id}?all`, id);
  const names = [...code.matchAll(/^export \{ default as (\w+) \}/gm)].map(([, name]) => name);
  return names.map((name) => `export const ${name} = () => require('${path}').${name}();`).join("\n");
}

function askLater(code: string, name: string, file: string): string {
  const declared = new RegExp(`^const (\\{ )?${name}(?: \\})? = require\\(('[^']+')\\);?$`, "m");
  const [whole = "", isMember, path = ""] = declared.exec(code) ?? [];
  const asked = isMember ? `require(${path}).${name}` : `require(${path})`;
  const used = new RegExp(`(?<=^[^*/\\n]*(?<![.\\w$'-]))${name}(?![\\w$':]|\\s*=)`, "gm");
  return changed(changed(code, whole, "", file), used, `(${asked})`, file);
}

function changed(code: string, what: string | RegExp, by: string, file: string): string {
  const text = what === "" ? code : code.replace(what, by);
  if (text === code) throw new Error(`${file} is no longer as ${import.meta.filename} knows it`);
  return text;
}
