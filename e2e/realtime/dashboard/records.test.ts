// Records of the service about its agents, as an owner reads them: real service, real instances, a real browser.
import { auditTests } from "./records/audit.ts";
import { largeTests } from "./records/large.ts";
import { logTests } from "./records/logs.ts";
import { usageTests } from "./records/usage.ts";
import { setStage } from "./stage.ts";

const stage = setStage();
usageTests(stage); // begins with a month in which nothing was used
auditTests(stage);
logTests(stage);
largeTests(stage);
