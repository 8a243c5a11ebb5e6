import { after, before } from "node:test";
import type { Browser } from "playwright-core";
import { launchChromium, type ChromiumOptions } from "../../harness/chromium.ts";
import {
  startServiceProcess,
  type ServiceOptions,
  type ServiceProcess,
} from "../../harness/service-process.ts";
import { openDashboard, redeemOwnerLink } from "./dashboard-page.ts";

/** A service and a browser for all tests of a file; there once they run. */
export interface DashboardStage {
  readonly browser: Browser;
  readonly service: ServiceProcess;
}

export interface StageOptions extends ServiceOptions, Pick<ChromiumOptions, "microphone"> {
  /** Whether the owner's link is redeemed. @default true */
  hasOwner?: boolean;
  /** Prepares the service before the first test. */
  prepare?(stage: DashboardStage): Promise<void>;
}

/** Sets it up before the tests of the file and puts it away after them. */
export function setStage(options: StageOptions = {}): DashboardStage {
  const { hasOwner = true, microphone, prepare, ...ofService } = options;
  const stage: { browser?: Browser; service?: ServiceProcess } = {};
  before(async () => {
    await import("../../../scripts/build-dashboard.ts");
    const launching = launchChromium(microphone ? { microphone } : {});
    [stage.browser, stage.service] = await Promise.all([launching, startServiceProcess(ofService)]);
    if (hasOwner) {
      await using dashboard = await openDashboard(stage.browser, stage.service, { signedIn: false });
      await redeemOwnerLink(dashboard, stage.service);
    }
    await prepare?.(stage as DashboardStage);
  });
  after(async () => {
    await stage.browser?.close();
    await stage.service?.[Symbol.asyncDispose]();
  });
  return stage as DashboardStage;
}
