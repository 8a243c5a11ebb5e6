import { createHash, createHmac } from "node:crypto";
import { equalTexts } from "./equal-texts.ts";
import { header, isForm, rootForms, type SignatureVerdict, type SignedRequest } from "./signed-request.ts";

/** HMAC-SHA1 over the address and the sorted form fields. */
export function checkTwilioSignature(
  request: SignedRequest,
  authToken: string | undefined,
): SignatureVerdict {
  if (!authToken) return "off";
  const given = header(request, "x-twilio-signature");
  if (!given || !bodyHashFits(request)) return "invalid";
  const fields = isForm(request) ? sortedFields(request.rawBody) : "";
  const matches = addressForms(request.url).some((url) => equalTexts(given, sign(authToken, url + fields)));
  return matches ? "valid" : "invalid";
}

export function signTwilio(url: string, form: string, authToken: string): string {
  return sign(authToken, url + sortedFields(form));
}

function sign(authToken: string, text: string): string {
  return createHmac("sha1", authToken).update(text, "utf8").digest("base64");
}

function sortedFields(form: string): string {
  const fields = new Map<string, Set<string>>();
  for (const [name, value] of new URLSearchParams(form))
    fields.set(name, (fields.get(name) ?? new Set()).add(value));
  return [...fields.keys()]
    .sort()
    .map((name) =>
      [...fields.get(name)!]
        .sort()
        .map((value) => name + value)
        .join(""),
    )
    .join("");
}

// Twilio signs the address as it was set or as it was escaped on the way, with or without its port.
function addressForms(url: string): string[] {
  const parsed = new URL(url);
  const { protocol, hostname, port } = parsed;
  const secure = protocol === "https:" || protocol === "wss:";
  const forms = [url, parsed.href].flatMap((form) => {
    const afterScheme = form.slice(protocol.length + 2);
    const rest = afterScheme.slice(afterScheme.search(/[/?]|$/));
    const defaultPort = secure ? 443 : 80;
    return [
      form,
      `${protocol}//${hostname}${rest}`,
      `${protocol}//${hostname}:${port || defaultPort}${rest}`,
    ];
  });
  const all = protocol.startsWith("ws") ? forms.flatMap(socketForms) : forms.flatMap(rootForms);
  return [...new Set(all)];
}

// An upgrade's may end in a slash, and is wss also where a proxy in front of us has taken the TLS off.
function socketForms(form: string): string[] {
  const secure = form.replace(/^ws:/, "wss:");
  return [form, `${form}/`, secure, `${secure}/`];
}

function bodyHashFits(request: SignedRequest): boolean {
  const expected = new URL(request.url).searchParams.get("bodySHA256");
  if (expected === null) return true;
  return equalTexts(
    createHash("sha256").update(request.rawBody, "utf8").digest("hex"),
    expected.toLowerCase(),
  );
}
