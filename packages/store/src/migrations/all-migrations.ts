import { firstTables } from "./0001-first-tables.ts";
import { longHistories } from "./0002-long-histories.ts";
import { voiceFilter } from "./0003-voice-filter.ts";
import { observedLengths } from "./0004-observed-lengths.ts";
import { filterFigures } from "./0005-filter-figures.ts";
import { sessionRooms } from "./0006-session-rooms.ts";
import { mediaPorts } from "./0007-media-ports.ts";
import { deploymentProgress } from "./0008-deployment-progress.ts";
import { publicKeys } from "./0009-public-keys.ts";
import { buildContents } from "./0010-build-contents.ts";
import { agentsInRegions } from "./0011-agents-in-regions.ts";
import { usageInOrder } from "./0012-usage-in-order.ts";
import { exportsAgain } from "./0013-exports-again.ts";
import { roomsAgain } from "./0014-rooms-again.ts";
import { pendingCallers } from "./0015-pending-callers.ts";
import type { Migration } from "./migration.ts";

export const allMigrations: readonly Migration[] = [
  firstTables,
  longHistories,
  voiceFilter,
  observedLengths,
  filterFigures,
  sessionRooms,
  mediaPorts,
  deploymentProgress,
  publicKeys,
  buildContents,
  agentsInRegions,
  usageInOrder,
  exportsAgain,
  roomsAgain,
  pendingCallers,
];
