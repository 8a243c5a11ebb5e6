import { thisPlatform } from "@vocalhost/images";
import { createHash } from "node:crypto";
import { createServer } from "node:http";
import { listenOnLoopback, type LoopbackServer } from "./loopback-server.ts";

/** A registry with one image, of which clients pull only the manifest. */
export async function startPretendedRegistry(): Promise<LoopbackServer & { image: string }> {
  const { os, architecture } = thisPlatform();
  const config = JSON.stringify({ os, architecture, config: {}, rootfs: { type: "layers", diff_ids: [] } });
  const manifest = JSON.stringify({
    schemaVersion: 2,
    mediaType: "application/vnd.oci.image.manifest.v1+json",
    config: {
      mediaType: "application/vnd.oci.image.config.v1+json",
      digest: digestOf(config),
      size: Buffer.byteLength(config),
    },
    layers: [],
  });
  const server = createServer((request, response) => {
    const isManifest = /\/manifests\//.test(request.url ?? "");
    const type = isManifest ? "application/vnd.oci.image.manifest.v1+json" : "application/octet-stream";
    response.writeHead(200, { "content-type": type }).end(isManifest ? manifest : config);
  });
  const listening = await listenOnLoopback(server);
  return { ...listening, image: `${listening.host}/pretended:1` };
}

function digestOf(text: string): string {
  return `sha256:${createHash("sha256").update(text).digest("hex")}`;
}
