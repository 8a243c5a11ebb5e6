import { z } from "zod";
import { IdentityFile } from "../local/instance-folder.ts";

/** Files the driver keeps beside those of the instance. */
export const folderFiles = {
  /** The controller that is making the object; written before the process starts. */
  maker: "maker.json",
  process: "process.json",
  exited: "exited.json",
  /** Written when the service ended the instance for want of memory, where no control group does. */
  overMemory: "over-memory.json",
} as const;

export const MakerFile = IdentityFile;
export const ProcessFile = IdentityFile.extend({
  cpuMillicores: z.number(),
  memoryMib: z.number().optional(),
});
export const ExitedFile = z.object({
  code: z.number().nullable(),
  signal: z.string().nullable(),
  outOfMemory: z.boolean(),
});
export type ProcessFile = z.infer<typeof ProcessFile>;
export type ExitedFile = z.infer<typeof ExitedFile>;
