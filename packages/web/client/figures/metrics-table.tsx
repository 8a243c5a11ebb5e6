import { toDelay } from "../../shared/duration.ts";
import { useStore } from "../../shared/use-store.ts";
import { metrics } from "../state/client-state.ts";
import { summarize, type MetricRow } from "../state/bot-metrics.ts";

/** What the bot measured about its own services, if it says so. */
export function MetricsTable() {
  const { rows, tokens } = useStore(metrics);
  if (rows.length === 0 && tokens.total === 0) {
    return (
      <p className="text-[0.8125rem] text-muted">
        A bot that sends metrics shows them here: time to first byte, processing time, tokens.
      </p>
    );
  }
  return (
    <div>
      <h3 className="mb-1 text-sm font-semibold">Measured by the bot</h3>
      <table className="w-full text-left text-[0.8125rem] tabular-nums">
        <thead className="text-muted">
          <tr>
            <th className="py-1 font-medium">Measurement</th>
            <th className="py-1 font-medium">Service</th>
            <th className="py-1 text-right font-medium">Last</th>
            <th className="py-1 text-right font-medium">Median or sum</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <Row key={`${row.name} ${row.processor}`} row={row} />
          ))}
        </tbody>
      </table>
      {tokens.total > 0 && (
        <p className="mt-2 text-[0.8125rem] text-muted tabular-nums">
          Tokens: {tokens.prompt} in, {tokens.completion} out, {tokens.total} in all
        </p>
      )}
    </div>
  );
}

function Row({ row }: { row: MetricRow }) {
  const { last, typical } = summarize(row);
  const show = (value: number) =>
    row.unit === "seconds" ? toDelay(value * 1000) : String(Math.round(value));
  return (
    <tr className="border-t border-line">
      <td className="py-1.5">{row.name}</td>
      <td className="py-1.5 break-all">{row.processor}</td>
      <td className="py-1.5 text-right">{show(last)}</td>
      <td className="py-1.5 text-right">{show(typical)}</td>
    </tr>
  );
}
