import type { CallDetails, Carrier } from "./carrier.ts";
import { createExotel, type ExotelOptions } from "./exotel.ts";
import { createPlivo, type PlivoOptions } from "./plivo.ts";
import { createTelnyx, type TelnyxOptions } from "./telnyx.ts";
import { createTwilio } from "./twilio.ts";

/** One carrier and what can be chosen there. */
export type CarrierChoice =
  | { name: "twilio" }
  | ({ name: "telnyx" } & TelnyxOptions)
  | ({ name: "plivo" } & PlivoOptions)
  | ({ name: "exotel" } & ExotelOptions);

export function createCarrier(choice: CarrierChoice, details: CallDetails): Carrier {
  switch (choice.name) {
    case "twilio":
      return createTwilio(details);
    case "telnyx":
      return createTelnyx(details, choice);
    case "plivo":
      return createPlivo(details, choice);
    case "exotel":
      return createExotel(details, choice);
    default:
      return choice satisfies never;
  }
}
