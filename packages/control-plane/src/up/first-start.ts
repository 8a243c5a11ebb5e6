import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { FIRST_RUN_FILE, type FirstRun } from "../controller/first-run-file.ts";
import type { Service } from "./service.ts";

/** A first start that has not yet shown what it made. */
export interface FirstStart {
  made: FirstRun;
  /** It has been shown. */
  done(): void;
}

const UNFINISHED_FILE = "first-start-unfinished";

/** Also of a later start, if the first one was ended before it could show anything; undefined of all others. */
export function openFirstStart(service: Service, dataFolder: string): FirstStart | undefined {
  const marker = join(dataFolder, UNFINISHED_FILE);
  const made = service.firstRun ?? readUnfinished(service, dataFolder);
  const done = (): void => rmSync(marker, { force: true });
  if (made) writeFileSync(marker, "", { mode: 0o600 });
  else done(); // its keys are gone, or there is none
  return made && { made, done };
}

function readUnfinished({ publicUrl, ownerLink }: Service, dataFolder: string): FirstRun | undefined {
  try {
    readFileSync(join(dataFolder, UNFINISHED_FILE));
    const made = JSON.parse(readFileSync(join(dataFolder, FIRST_RUN_FILE), "utf8")) as FirstRun;
    // The address may be another one by now.
    return {
      ...made,
      apiUrl: `${publicUrl}/v1`,
      dashboardUrl: publicUrl,
      ownerLink: ownerLink ?? made.ownerLink,
    };
  } catch {
    return undefined;
  }
}
