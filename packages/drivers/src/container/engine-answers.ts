/** The fields that the driver reads of the engine's answers. The names are Docker's. */
export interface ListedContainer {
  Id: string;
  State: string;
  /** Seconds since 1970. */
  Created: number;
  Labels: Record<string, string>;
  NetworkSettings?: { Networks?: Record<string, { IPAddress: string }> };
}

export interface FoundContainer {
  State: ContainerState;
}

export interface ContainerState {
  Status: string;
  Running: boolean;
  ExitCode: number;
  OOMKilled: boolean;
  Error: string;
}

export interface ListedImage {
  Id: string;
  RepoTags?: string[] | null;
  /** Seconds since 1970. */
  Created: number;
}

export interface FoundImage {
  Id: string;
  Architecture: string;
  Size: number;
  Config?: {
    Labels?: Record<string, string> | null;
    OnBuild?: string[] | null;
    Volumes?: Record<string, object> | null;
  } | null;
}

export interface FoundNetwork {
  Id: string;
  Driver: string;
  Options?: Record<string, string> | null;
  IPAM?: { Config?: { Subnet?: string; Gateway?: string; IPRange?: string }[] | null };
}

export interface EngineVersion {
  Version: string;
  Components?: { Name: string }[];
}

export interface EngineInfo {
  DockerRootDir?: string;
  SecurityOptions?: string[];
}

/** The request of `create`, with the fields of Docker's interface. */
export interface ContainerRequest {
  name: string;
  Image: string;
  [field: string]: unknown;
}
