import { simulatedCarriers, type CallDetails, type CarrierChoice } from "@vocalhost/simulator";
import type { Ui } from "../ui.ts";
import { createSigner, type Signer } from "../webhook/signer.ts";
import { askWebhook } from "../webhook/webhook-client.ts";
import type { CallOptions } from "./call-options.ts";
import type { CallPlan } from "./plan-call.ts";

/** Where to connect, and as what. */
export interface BotStream {
  url: string;
  headers: Record<string, string>;
  carrier: CarrierChoice;
  details: CallDetails;
  signer: Signer;
  remarks: string[];
}

/** Goes through the webhook if there is one; else the stream's address was given. */
export async function findStream(
  plan: CallPlan,
  options: CallOptions,
  context: { ui: Ui; signal: AbortSignal },
): Promise<BotStream> {
  const signer = await createSigner(plan.carrier.name, plan.secret);
  if (plan.target.type === "stream") return directStream(plan, options, signer);
  const { carrier, target } = plan;
  const { ui, signal } = context;
  const told = await askWebhook({
    ...{ carrier, url: target.url, publicUrl: options.publicUrl },
    ...{ details: plan.details, signer, signal },
    ...(options.verbose && { onAnswer: (text: string) => ui.note(text.trim()) }),
  });
  return {
    url: reachable(told.url, target),
    headers: await signer.upgradeHeaders(told.url),
    carrier: told.carrier,
    details: { ...plan.details, parameters: told.parameters },
    signer,
    remarks: [...plan.remarks, ...told.remarks],
  };
}

async function directStream(plan: CallPlan, options: CallOptions, signer: Signer): Promise<BotStream> {
  const { carrier, details } = plan;
  const url = new URL(plan.target.url);
  if (options.token !== undefined) url.pathname = `${url.pathname.replace(/\/$/, "")}/${options.token}`;
  const remark = simulatedCarriers[carrier.name].dial?.(url, details.parameters, carrier);
  const remarks = remark === undefined ? plan.remarks : [...plan.remarks, remark];
  const headers = await signer.upgradeHeaders(options.publicUrl ?? url.href);
  return { url: url.href, headers, carrier, details, signer, remarks };
}

/** A webhook names the stream as the carrier reaches it: by its public name, with TLS. */
function reachable(streamUrl: string, { url, via }: { url: string; via: string | undefined }): string {
  const stream = new URL(streamUrl);
  const webhook = new URL(url);
  if (via !== undefined) return new URL(`${stream.pathname}${stream.search}`, via).href;
  if (stream.host !== webhook.host || webhook.protocol !== "http:") return streamUrl;
  return streamUrl.replace(/^wss:/, "ws:");
}
