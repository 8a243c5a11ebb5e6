import { useState } from "react";
import { Button } from "../../shared/button.tsx";
import type { Attendee } from "../../shared/events/connection-event.ts";
import { useCopy } from "../../shared/use-copy.ts";
import { useStore } from "../../shared/use-store.ts";
import { inviteInto } from "../runner/runner.ts";
import { attendees, sessionId } from "../state/client-state.ts";
import { attendeeName } from "./attendee-name.ts";

/** Who is in the room, and a way to bring others. */
export function Attendees() {
  const present = useStore(attendees);
  if (present.length === 0) return null;
  return (
    <section aria-label="In the room" className="mt-4 grid justify-items-center gap-3">
      <ul className="flex flex-wrap justify-center gap-2">
        {present.map((attendee) => (
          <AttendeeBadge key={attendee.identity} attendee={attendee} />
        ))}
      </ul>
      <Invite />
    </section>
  );
}

function AttendeeBadge({ attendee }: { attendee: Attendee }) {
  const name = attendeeName(attendee);
  return (
    <li
      className={`rounded-full border px-3 py-1 text-sm ${attendee.isSpeaking ? "border-accent text-accent" : "border-line text-muted"}`}
    >
      {name}
      {attendee.isSpeaking && <span className="sr-only"> is speaking</span>}
    </li>
  );
}

function Invite() {
  const id = useStore(sessionId);
  const { copied, copy } = useCopy();
  const [problem, setProblem] = useState("");
  if (id === "") return null;
  const invite = async () => {
    try {
      copy(await inviteInto(id));
      setProblem("");
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <>
      <Button icon={copied ? "check" : "copy"} onClick={() => void invite()}>
        {copied ? "Copied" : "Copy a link for one more"}
      </Button>
      {problem && <p className="text-sm text-muted">{problem}</p>}
    </>
  );
}
