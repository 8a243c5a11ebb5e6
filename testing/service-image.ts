import { createImage, packLayer, thisPlatform, type Image, type LayerEntry } from "@vocalhost/images";
import { join } from "node:path";
import { BOT_USER, inImage, packageEntries, programEntries } from "./machine-image.ts";
import { isBuilt, nodeFlags, programOf } from "./programs.ts";

const PUBLISHED = ["carriers", "control-plane", "sdk", "protocol", "audio", "rooms", "images", "viva"];
const PACKAGES = isBuilt ? PUBLISHED : [...PUBLISHED, "gateway", "drivers", "store", "base"];
// A service whose bots are pods does not need these.
const LEFT_OUT =
  /^(?:sherpa-onnx|ai$|@aws-sdk\/|@types\/|@vocalhost\/|vocalhost$|@livekit\/rtc-ffi-bindings-)/;
const AUTHORITY = "etc/authority.pem";

export interface ServiceImageOptions {
  /** For its layers. */
  folder: string;
  /** Certificate of an authority that it trusts, in a file. */
  authority?: string | undefined;
}

/** Makes in seconds what `deploy/Dockerfile` makes, of this machine's Node and the programs of this repository. */
export async function makeServiceImage({ folder, authority }: ServiceImageOptions): Promise<Image> {
  const trusted: LayerEntry[] =
    authority === undefined
      ? []
      : [{ path: AUTHORITY, mode: 0o644, uid: 0, gid: 0, kind: "file", source: authority }];
  const layer = await packLayer({
    entries: [
      ...programEntries(["/usr/bin/sleep"]), // the chart's gateways wait with it
      ...(await packageEntries(PACKAGES, (name) => LEFT_OUT.test(name))),
      ...trusted,
    ],
    file: join(folder, "service-image.tar.gz"),
    createdBy: "test",
    level: 0,
  });
  return createImage({
    platform: thisPlatform(),
    layers: [layer],
    defaults: {
      User: `${BOT_USER}:${BOT_USER}`,
      WorkingDir: "/app",
      Env: ["PATH=/usr/local/bin:/usr/bin", ...(authority ? [`NODE_EXTRA_CA_CERTS=/${AUTHORITY}`] : [])],
      Entrypoint: ["/usr/local/bin/node", ...nodeFlags, inImage(programOf("control-plane", "main/up-main"))],
    },
  });
}
