import { after, before } from "node:test";
import type { Browser } from "playwright-core";
import { launchChromium, type ChromiumOptions } from "../harness/chromium.ts";
import { startServiceProcess, type ServiceOptions, type ServiceProcess } from "../harness/service-process.ts";
import { openDashboard, redeemOwnerLink } from "./dashboard-page.ts";

/** A service and a browser for all tests of a file; there once they run. */
export interface DashboardStage {
  readonly browser: Browser;
  readonly service: ServiceProcess;
}

export interface StageOptions extends ServiceOptions, Pick<ChromiumOptions, "microphone"> {
  /** Whether somebody has redeemed the owner's link. @default true */
  hasOwner?: boolean;
}

/** Sets it up before the tests of the file and puts it away after them. */
export function setStage({ hasOwner = true, microphone, ...options }: StageOptions = {}): DashboardStage {
  const stage: Partial<DashboardStage> & { browser?: Browser; service?: ServiceProcess } = {};
  before(async () => {
    await import("../../scripts/build-dashboard.ts");
    const launching = launchChromium(microphone ? { microphone } : {});
    [stage.browser, stage.service] = await Promise.all([launching, startServiceProcess(options)]);
    if (!hasOwner) return;
    await using dashboard = await openDashboard(stage.browser, stage.service, { signedIn: false });
    await redeemOwnerLink(dashboard, stage.service);
  });
  after(async () => {
    await stage.browser?.close();
    await stage.service?.[Symbol.asyncDispose]();
  });
  return stage as DashboardStage;
}
