import { answerers, type CallData, type CarrierEvent, type CarrierMessage } from "./carrier.ts";

export function asMessage(value: unknown): CarrierMessage {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as CarrierMessage)
    : {};
}

export function asText(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

const ID = /^[\w:+/=.-]{1,256}$/; // UUIDs, hexadecimal and base64; the longest have about 80 characters

/** The name of a call or a stream. It becomes part of REST addresses, where "." and ".." lead elsewhere. */
export function asId(value: unknown): string | undefined {
  const id = asText(value);
  if (id === undefined || !ID.test(id)) return undefined;
  return id.split("/").some((part) => /^\.+$/.test(part)) ? undefined : id;
}

/** Carriers write numbers as numbers or as text. */
export function asNumber(value: unknown): number | undefined {
  const number = typeof value === "string" && value !== "" ? Number(value) : value;
  return typeof number === "number" && Number.isFinite(number) ? number : undefined;
}

/** Reads who answered a call that we placed, as the webhook's answer passed it on. */
export function answeredBy(value: unknown): Pick<CallData, "answeredBy"> {
  const answerer = answerers.find((each) => each === value);
  return answerer ? { answeredBy: answerer } : {};
}

/** The events most carriers share, under the names most of them use. */
export function readCommonEvent(message: CarrierMessage): CarrierEvent | undefined {
  switch (message["event"]) {
    case "media": {
      const media = asMessage(message["media"]);
      const payload = asText(media["payload"]);
      const track = asText(media["track"]);
      const isOurs = track === undefined || track.startsWith("inbound");
      if (!payload || !isOurs) return undefined;
      return { type: "media", payload };
    }
    case "dtmf": {
      const key = asText(asMessage(message["dtmf"])["digit"]);
      return key ? { type: "dtmf", key } : undefined;
    }
    case "mark": {
      const name = asText(asMessage(message["mark"])["name"]);
      return name ? { type: "mark", name } : undefined;
    }
    case "stop":
      return { type: "stop" };
    default:
      return undefined;
  }
}
