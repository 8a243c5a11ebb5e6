import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { launchChromium } from "../harness/chromium.ts";
import { startClientPages } from "../harness/client-pages.ts";
import { openCaller, type Caller, type CallerOptions } from "./caller.ts";
import { writeMicrophoneFile } from "./microphone.ts";
import type { Target, TargetDefinition } from "./target.ts";

/** A service, a browser with a known tone for a microphone, and a page with the released clients. */
export interface Stage extends AsyncDisposable {
  readonly target: Target;
  openCaller(test: TestContext, options: CallerOptions): Promise<Caller>;
}

const PAGE_FOLDER = fileURLToPath(new URL("./page/", import.meta.url));

export async function openStage(definition: TargetDefinition): Promise<Stage> {
  await using stack = new AsyncDisposableStack(); // undoes a half-finished start
  const folder = await mkdtemp(join(tmpdir(), "conformance-"));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const microphone = join(folder, "microphone.wav");
  await writeMicrophoneFile(microphone);
  const pages = stack.use(await startClientPages(PAGE_FOLDER));
  const target = stack.use(await definition.open({ pageOrigin: pages.origin }));
  const browser = await launchChromium({ microphone });
  stack.defer(() => browser.close());
  const owned = stack.move();
  return {
    target,
    openCaller: (test, options) => openCaller(test, { browser, pageOrigin: pages.origin, target }, options),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
