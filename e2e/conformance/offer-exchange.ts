import type { Page, Response } from "playwright-core";

/** An offer of the client and the service's answer to it. */
export interface OfferExchange {
  peerBefore: string | null;
  restart: boolean;
  status: number;
  /** Identifier in the answer. */
  peer: string | undefined;
}

/** A list that grows with every offer the page makes. */
export function watchOffers(page: Page): readonly OfferExchange[] {
  const exchanges: OfferExchange[] = [];
  page.on("response", (response) => {
    const request = response.request();
    if (request.method() === "POST" && request.url().endsWith("/api/offer"))
      void read(response).then((exchange) => exchanges.push(exchange));
  });
  return exchanges;
}

async function read(response: Response): Promise<OfferExchange> {
  const offer = response.request().postDataJSON() as { pc_id: string | null; restart_pc: boolean };
  const answer = (await response.json().catch(() => ({}))) as { pc_id?: string };
  return {
    peerBefore: offer.pc_id,
    restart: offer.restart_pc,
    status: response.status(),
    peer: answer.pc_id,
  };
}
