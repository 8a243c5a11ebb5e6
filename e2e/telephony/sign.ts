import { carriers, type CarrierName } from "@vocalhost/carriers";

/** The headers with which a carrier signs a form, or the upgrade of a stream. */
export async function signed(
  carrier: CarrierName,
  { url, form = "" }: { url: string; form?: string },
  secret: string,
): Promise<Record<string, string>> {
  return (await carriers[carrier].signature?.sign({ method: "POST", url, form }, secret)) ?? {};
}
