import type { SessionFilter } from "@vocalhost/protocol";
import { Badge } from "../ui/badge.tsx";
import { Card, Facts } from "../ui/card.tsx";
import { Alert } from "../ui/notice.tsx";
import { filterFacts, toFilterState } from "./session-words.ts";

/** Proof that the voice filter ran, or that it did not. */
export function FilterCard({ filter }: { filter: SessionFilter }) {
  const { word, tone } = toFilterState(filter);
  return (
    <Card title="Voice filter" actions={<Badge tone={tone}>{word}</Badge>}>
      <div className="grid gap-4">
        {filter.warning && (
          <Alert tone="busy" title={filter.billed ? "Billed, but not used" : "Not billed"}>
            {filter.warning}.
          </Alert>
        )}
        <Facts facts={filterFacts(filter)} />
      </div>
    </Card>
  );
}
