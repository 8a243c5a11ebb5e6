import { useNavigate, useSearch } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { SelectField } from "../../shared/select-field.tsx";
import { useAgentName } from "../agents/agent-name.ts";
import { Card } from "../ui/card.tsx";
import { TextField } from "../ui/field.tsx";
import { logRanges, toLogRange, type LogRange } from "./log-range.ts";
import { LogView } from "./log-view.tsx";

const TYPING_MS = 400;

export function LogsPage() {
  const name = useAgentName();
  const [typed, setTyped] = useState("");
  const query = useSettled(typed, TYPING_MS);
  const [range, setRange] = useRange();
  return (
    <Card>
      <div className="grid gap-4">
        <div className="grid grid-cols-[minmax(0,1fr)_10.5rem] gap-3 sm:grid-cols-[minmax(0,28rem)_14rem]">
          <TextField
            label="Search"
            type="search"
            value={typed}
            onChange={setTyped}
            autoComplete="off"
            placeholder="Text to find"
            maxLength={1_000}
          />
          <SelectField
            label="Time"
            value={range}
            options={[...logRanges]}
            onChange={(value) => setRange(toLogRange(value))}
          />
        </div>
        <LogView agentName={name} query={query} range={range} height="h-[max(20rem,calc(100dvh-27rem))]" />
      </div>
    </Card>
  );
}

/** Kept in the address, so that the link can be shared. */
function useRange(): [LogRange, (range: LogRange) => void] {
  const { range } = useSearch({ strict: false }) as Record<string, unknown>;
  const navigate = useNavigate();
  return [toLogRange(range), (next) => void navigate({ to: ".", search: { range: next }, replace: true })];
}

/** The value once it has not changed for a moment. */
function useSettled(value: string, afterMs: number): string {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), afterMs);
    return () => clearTimeout(timer);
  }, [value, afterMs]);
  return settled;
}
