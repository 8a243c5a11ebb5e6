import { newCallIds, type CallDetails } from "@vocalhost/simulator";
import type { CallChoice } from "../connection/open-session.ts";

/** Who calls whom. The numbers travel where the runner's own webhook answers would put them. */
export function createCallDetails(
  choice: CallChoice,
  more: Record<string, string> = {}, // only where the carrier has room for them
): CallDetails {
  const { carrier, from, to } = choice;
  return { ids: newCallIds(carrier), from, to, parameters: parametersOf(choice, more) };
}

function parametersOf(
  { carrier, from, to }: CallChoice,
  more: Record<string, string>,
): Record<string, string> {
  switch (carrier) {
    case "twilio":
      return { from_number: from, to_number: to, ...more };
    case "plivo":
      return { from: lettersAndDigits(from), to: lettersAndDigits(to) };
    case "telnyx":
    case "exotel":
      return {}; // their opening message has the numbers
    default:
      return carrier satisfies never;
  }
}

// Plivo's extra headers may hold nothing else.
function lettersAndDigits(number: string): string {
  return number.replaceAll(/[^A-Za-z0-9]/g, "");
}
