import { createStore, type Store } from "../../shared/store.ts";
import type { Connection } from "../../shared/connection/connection.ts";
import { nowMs } from "../../shared/now.ts";
import { toLinkFigures, type LinkFigures, type LinkSample } from "../../shared/figures/link-figures.ts";

const READ_EVERY_MS = 1_000;

/** Figures of the link, once a second while a session is live; the last ones stay until the next. */
export function watchFigures(connection: Connection): Store<LinkFigures | undefined> {
  const figures = createStore<LinkFigures | undefined>(undefined);
  let timer: ReturnType<typeof setInterval> | undefined;
  let before: LinkSample | undefined;
  const read = async () => {
    const now = await connection.session?.link.sample(nowMs()).catch(() => undefined);
    if (!now || timer === undefined) return;
    figures.set(toLinkFigures(before, now));
    before = now;
  };
  connection.phase.subscribe(() => {
    const { name } = connection.phase.get();
    if (name === "live" && timer === undefined) {
      before = undefined;
      timer = setInterval(() => void read(), READ_EVERY_MS);
      void read();
    } else if (name !== "live") {
      clearInterval(timer);
      timer = undefined;
      if (name === "connecting") figures.set(undefined);
    }
  });
  return figures;
}
