// Images
export { createImage, compressedBytes, type CreateImageOptions, type Image } from "./image.ts";
export type { ImageConfig, ImageDefaults, ImageManifest } from "./image-documents.ts";
export { imageLabels, BASE_VERSION, readBaseFacts, type BaseFacts } from "./labels.ts";
export { ImageError, type ImageErrorCode } from "./image-error.ts";
export { formatImageReference, parseImageReference, type ImageReference } from "./image-reference.ts";
export {
  describePlatform,
  parsePlatform,
  thisPlatform,
  type Architecture,
  type Platform,
} from "./platform.ts";
export { digestOf, isDigest, type Digest } from "./digest.ts";

// Layers
export { folderEntries, type FolderEntriesOptions } from "./layers/folder-entries.ts";
export type { LayerEntry } from "./layers/layer-entry.ts";
export { writeTar } from "./layers/write-tar.ts";
export { packLayer, type Layer, type PackLayerOptions } from "./layers/pack-layer.ts";

// Images in folders and archives
export {
  openImageFolder,
  type FoundImage,
  type ImageFolder,
  type ImageNotes,
} from "./archives/image-folder.ts";
export {
  streamArchive,
  writeArchive,
  type ArchiveFormat,
  type ArchiveOptions,
} from "./archives/write-archive.ts";

// Engines
export { EngineAddressError, engineSockets, type EngineSocket } from "./engine-sockets.ts";

// Registries
export { readAuthFile, type RegistryCredentials } from "./registry/credentials.ts";
export { pushImage, type PushedImage, type PushOptions, type PushProgress } from "./registry/push-image.ts";
export type { RegistryOptions } from "./registry/registry-session.ts";
export { resolveImage, type ResolvedImage, type ResolveOptions } from "./registry/resolve-image.ts";
export type { RegistryLimits } from "./registry/send-request.ts";

// The base image
export { basePlaces, baseUser } from "./base/base-places.ts";
export { buildBase, type BuildBaseOptions, type BuiltBase } from "./base/build-base.ts";
export { NODE_VERSION } from "./base/contents.ts";
export { LockFile, type ProductPackages } from "./base/npm-packages.ts";
export { publishedProduct, readPackedProduct } from "./base/packed-product.ts";

// Images of bots
export { buildBotImage, type BotImageOptions, type BuiltBotImage } from "./bots/build-bot-image.ts";
export { BuildProblem } from "./run-program.ts";

// Engines
export { EngineError, loadIntoEngine, type LoadOptions } from "./engine/load-into-engine.ts";
