import { createHash } from "node:crypto";
import { createServer } from "node:http";
import { gzipSync } from "node:zlib";
import { listenOnLoopback } from "../../../../testing/loopback-server.ts";
import { packTar } from "modern-tar";

/** A registry of npm packages with one package in it. */
export interface NpmRegistry extends AsyncDisposable {
  url: string;
  /** How often the package was downloaded. */
  downloads(): number;
}

export async function startNpmRegistry({ name, code }: { name: string; code: string }): Promise<NpmRegistry> {
  const version = "1.0.0";
  const manifest = { name, version, main: "index.js" };
  const files = { "package.json": JSON.stringify(manifest), "index.js": code };
  const archive = gzipSync(
    await packTar(
      Object.entries(files).map(([path, body]) => ({
        header: { name: `package/${path}`, size: body.length, type: "file", mtime: new Date(0) },
        body,
      })),
    ),
  );
  const integrity = `sha512-${createHash("sha512").update(archive).digest("base64")}`;
  let downloads = 0;
  const server = createServer((request, response) => {
    if (request.url === `/${name}`) {
      const tarball = `http://${request.headers.host}/${name}.tgz`;
      const versions = { [version]: { ...manifest, dist: { tarball, integrity } } };
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ name, "dist-tags": { latest: version }, versions }));
    } else if (request.url === `/${name}.tgz`) {
      downloads += 1;
      response.end(archive);
    } else response.writeHead(404).end("{}");
  });
  const listening = await listenOnLoopback(server);
  return {
    url: listening.url,
    downloads: () => downloads,
    [Symbol.asyncDispose]: () => listening[Symbol.asyncDispose](),
  };
}
