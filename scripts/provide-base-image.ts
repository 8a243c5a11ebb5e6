// Part of `npm start`: with bots in containers the base image is made of this repository, unless it is there.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { parseEnv } from "node:util";

const file = process.env["VOCALHOST_CONFIG"];
const settings = { ...(file ? parseEnv(readFileSync(file, "utf8")) : {}), ...process.env };
if (settings["VOCALHOST_DRIVER"] === "container") {
  console.log(
    "  bots run in containers: making sure of their base image, which takes a minute or two the first time …",
  );
  const maker = ["--conditions=@vocalhost/source", "scripts/build-base-image.ts", "--verbose"];
  const { status } = spawnSync(process.execPath, maker, { stdio: "inherit" });
  if (status !== 0) {
    console.error(
      "The base image could not be made here, which needs Debian's apt-get and npm's registry. " +
        "Carry one over (docs/hosted/images.md) and name its folder: VOCALHOST_BASE_IMAGES",
    );
    process.exit(settings["VOCALHOST_BASE_IMAGES"] ? 0 : 1);
  }
}
