/** Paths in the base image, for code that starts containers of it. */
export const basePlaces = {
  /** The bot's folder, and where its container starts. */
  app: "/app",
  /** Engine of the voice filter; give it to an instance as `VOCALHOST_VIVA_ENGINE` when its filter is on. */
  filterEngine: "/opt/vocalhost/node_modules/@vocalhost/viva/dist/index.js",
  entry: "/opt/vocalhost/node_modules/vocalhost/dist/instance/image-main.js",
  compileCacheMaker: "/opt/vocalhost/node_modules/vocalhost/dist/instance/compile-cache-main.js",
  compileCache: "/opt/vocalhost/compile-cache",
  product: "/opt/vocalhost",
  node: "/usr/local/bin/node",
} as const;

/** The user that bots run as. It owns nothing in the image but its home and the folder for the bot. */
export const baseUser = { name: "bot", uid: 10_001, gid: 10_001, home: "/home/bot" } as const;

/** An entry of a layer has no slash in front. */
export function inLayer(path: string): string {
  return path.replace(/^\//, "");
}
