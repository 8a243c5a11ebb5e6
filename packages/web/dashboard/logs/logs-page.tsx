import { useEffect, useState } from "react";
import { useAgentName } from "../agents/agent-name.ts";
import { Card } from "../ui/card.tsx";
import { TextField } from "../ui/field.tsx";
import { LogView } from "./log-view.tsx";

const TYPING_MS = 400;

export function LogsPage() {
  const name = useAgentName();
  const [typed, setTyped] = useState("");
  const query = useSettled(typed, TYPING_MS);
  return (
    <Card>
      <div className="grid gap-4">
        <TextField
          label="Search"
          type="search"
          value={typed}
          onChange={setTyped}
          autoComplete="off"
          placeholder="Text the line contains"
          maxLength={1_000}
          className="max-w-md"
        />
        <LogView agentName={name} query={query} height="h-[max(20rem,calc(100dvh-27rem))]" />
      </div>
    </Card>
  );
}

/** The value once nobody has changed it for a moment. */
function useSettled(value: string, afterMs: number): string {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), afterMs);
    return () => clearTimeout(timer);
  }, [value, afterMs]);
  return settled;
}
