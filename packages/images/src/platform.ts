/** The operating system and processor that images are made for. */
export interface Platform {
  os: "linux";
  architecture: Architecture;
}

/** The names in registries and engines. */
export type Architecture = "amd64" | "arm64";

/** The names in Node and npm. */
export type NodeArchitecture = "x64" | "arm64";

const ARCHITECTURES: Record<NodeArchitecture, Architecture> = { x64: "amd64", arm64: "arm64" };

/** Returns the platform of containers on this machine, whatever its own system is. */
export function thisPlatform(architecture: string = process.arch): Platform {
  return { os: "linux", architecture: ARCHITECTURES[architecture as NodeArchitecture] ?? "amd64" };
}

/** `linux/arm64`, `arm64`, `x64`, … */
export function parsePlatform(text: string): Platform {
  const [, architecture = ""] = /^(?:linux\/)?([a-z0-9_]+)(?:\/v8)?$/.exec(text) ?? [];
  switch (architecture) {
    case "amd64":
    case "x64":
    case "x86_64":
      return { os: "linux", architecture: "amd64" };
    case "arm64":
    case "aarch64":
      return { os: "linux", architecture: "arm64" };
    default:
      throw new Error(`A platform is linux/amd64 or linux/arm64, not "${text}"`);
  }
}

export function toNodeArchitecture({ architecture }: Platform): NodeArchitecture {
  return architecture === "amd64" ? "x64" : "arm64";
}

export function describePlatform({ os, architecture }: { os: string; architecture: string }): string {
  return `${os}/${architecture}`;
}
