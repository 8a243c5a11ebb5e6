import { Disclosure } from "../../shared/disclosure.tsx";
import { useStore } from "../../shared/use-store.ts";
import { ConnectSteps } from "./connect-steps.tsx";
import { Figure, figureGrid } from "../../shared/figures/figure.tsx";
import { latency } from "../state/client-state.ts";
import { liveCells } from "../../shared/phone/call-cells.ts";
import { callFigures } from "../../shared/phone/phone-state.ts";
import { Violations } from "../../shared/phone/violations.tsx";

/** How the call is going. */
export function LiveFigures() {
  const figures = useStore(callFigures);
  const { answered } = useStore(latency);
  return (
    <section aria-label="Figures" className="mx-auto w-full max-w-2xl">
      <dl className={figureGrid}>
        {liveCells(figures, answered).map((cell) => (
          <Figure key={cell.name} {...cell} />
        ))}
      </dl>
      <Disclosure title="Details">
        <div className="grid gap-5">
          <ConnectSteps />
          <Violations violations={figures.violations} />
        </div>
      </Disclosure>
    </section>
  );
}
