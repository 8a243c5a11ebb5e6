import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { FIRST_RUN_FILE, NOT_SHOWN_FILE, type FirstRun } from "../controller/first-run-file.ts";
import type { Service } from "./service.ts";

type Started = Pick<Service, "firstRun" | "publicUrl" | "ownerLink">;

/** Returns the result of the first start if it was never shown, because that start was interrupted. */
export function findUnshown(service: Started, dataFolder: string): FirstRun | undefined {
  const { firstRun, publicUrl, ownerLink } = service;
  if (firstRun) return firstRun;
  // Without a link the service has an owner, who has already received the keys.
  if (ownerLink === undefined || !existsSync(join(dataFolder, NOT_SHOWN_FILE))) return undefined;
  try {
    const made = JSON.parse(readFileSync(join(dataFolder, FIRST_RUN_FILE), "utf8")) as FirstRun;
    return { ...made, apiUrl: `${publicUrl}/v1`, dashboardUrl: publicUrl, ownerLink }; // the address may have changed
  } catch {
    return undefined; // the owner has removed the file
  }
}

export function markShown(dataFolder: string): void {
  const file = join(dataFolder, NOT_SHOWN_FILE);
  if (existsSync(file)) rmSync(file, { force: true });
}
