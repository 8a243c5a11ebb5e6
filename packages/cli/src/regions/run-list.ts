import { answer } from "../answer.ts";
import { onService } from "../service/on-service.ts";
import type { ServiceOptions } from "../service/service-options.ts";
import { toTable } from "../table.ts";

/** `vocalhost regions list` */
export const run = onService<ServiceOptions>(async ({ api }, _options, context) => {
  const [{ regions }, { properties }] = await Promise.all([api.regions(), api.properties.get()]);
  const haveDrivers = regions.some(({ driver }) => driver !== undefined);
  const rows = regions.map(({ code, display_name: name, driver = "", status }) => [
    { text: code, style: "bold" as const },
    name,
    ...(haveDrivers ? [driver, status ?? ""] : []),
    code === properties.defaultRegion ? "default" : "",
  ]);
  answer(
    context,
    { regions, defaultRegion: properties.defaultRegion },
    toTable(context.ui, ["Code", "Name", ...(haveDrivers ? ["Driver", "Status"] : []), ""], rows),
  );
  return 0;
});
