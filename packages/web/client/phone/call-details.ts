import { newCallIds, type CallDetails, type CarrierName } from "@vocalhost/simulator";

/** Who calls whom. The numbers travel where the runner's own webhook answers would put them. */
export function createCallDetails(carrier: CarrierName, numbers: CallNumbers): CallDetails {
  return { ids: newCallIds(carrier), ...numbers, parameters: parametersFor(carrier, numbers) };
}

export interface CallNumbers {
  from: string;
  to: string;
}

function parametersFor(carrier: CarrierName, { from, to }: CallNumbers): Record<string, string> {
  switch (carrier) {
    case "twilio":
      return { from_number: from, to_number: to };
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
