import type { Key } from "@vocalhost/protocol";
import { answer } from "../answer.ts";
import { shownTime } from "../moments.ts";
import { onService } from "../service/on-service.ts";
import type { ServiceOptions } from "../service/service-options.ts";
import { shortId } from "../service/short-id.ts";
import { toTable, type Cell } from "../table.ts";
import { maskedKey } from "./masked-key.ts";

interface Options extends ServiceOptions {
  all: boolean | undefined;
}

/** `vocalhost keys list` */
export const run = onService<Options>(async ({ api }, { all }, context) => {
  const keys = await api.keys.list();
  const shown = (list: Key[]): Key[] => list.filter(({ revoked }) => all || !revoked);
  const rows = [
    ...shown(keys.public).map((key) => rowOf("public", key)),
    ...shown(keys.private).map((key) => rowOf("private", key)),
  ];
  const columns = ["Id", "Kind", "Name", "Key", "Agents", "Last used", "State"];
  const text =
    rows.length === 0
      ? "No keys. Create one with: vocalhost keys create"
      : toTable(context.ui, columns, rows);
  answer(context, { public: shown(keys.public), private: shown(keys.private) }, text);
  return 0;
});

function rowOf(kind: string, key: Key): Cell[] {
  const state = key.revoked
    ? "revoked"
    : key.expiresAt === null
      ? "valid"
      : `until ${shownTime(key.expiresAt)}`;
  return [
    shortId(key.id),
    kind,
    { text: key.metadata.name, style: "bold" },
    maskedKey(key.key),
    key.agents?.join(", ") ?? "all",
    shownTime(key.lastUsedAt),
    { text: state, style: key.revoked ? "red" : "green" },
  ];
}
