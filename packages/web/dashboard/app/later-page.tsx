import { lazy, Suspense, type FunctionComponent } from "react";
import { Loading } from "../ui/notice.tsx";

const loads: (() => Promise<unknown>)[] = [];

/** A page whose code comes after the first view. */
export function laterPage(load: () => Promise<FunctionComponent>): FunctionComponent {
  const Page = lazy(async () => ({ default: await load() }));
  loads.push(load);
  return function LaterPage() {
    return (
      <Suspense fallback={<Loading what="the page" />}>
        <Page />
      </Suspense>
    );
  };
}

/** Brings the code of all pages while nothing else is to do: a service that restarts must not take the page along. */
export async function loadAllPages(): Promise<void> {
  for (const load of loads) await load().catch(() => undefined); // opening that page shows the error
}
