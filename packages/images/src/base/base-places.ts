/** Where things are in the base image, for whoever starts containers of it. */
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

/** Who bots run as. Nothing in the image belongs to it but its home. */
export const baseUser = { name: "bot", uid: 10_001, gid: 10_001, home: "/home/bot" } as const;

/** An entry of a layer has no slash in front. */
export function inLayer(path: string): string {
  return path.replace(/^\//, "");
}
