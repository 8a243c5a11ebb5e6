import { createHmac } from "node:crypto";
import { equalTexts } from "./equal-texts.ts";
import { header, isForm, rootForms, type SignatureVerdict, type SignedRequest } from "./signed-request.ts";

/** Version 3: HMAC-SHA256 over the address, the sorted fields and a nonce. */
export function checkPlivoSignature(request: SignedRequest, authToken: string | undefined): SignatureVerdict {
  if (!authToken) return "off";
  const given = header(request, "x-plivo-signature-v3")?.split(",") ?? [];
  const nonce = header(request, "x-plivo-signature-v3-nonce");
  if (!nonce) return "invalid";
  const form = isForm(request) ? request.rawBody : "";
  const expected = rootForms(request.url).map((url) =>
    signPlivo({ ...request, url, form, nonce, authToken }),
  );
  const matches = given.some((signature) => expected.some((one) => equalTexts(signature.trim(), one)));
  return matches ? "valid" : "invalid";
}

export interface PlivoSigning {
  method: string;
  url: string;
  form: string;
  nonce: string;
  authToken: string;
}

export function signPlivo(signing: PlivoSigning): string {
  return createHmac("sha256", signing.authToken)
    .update(`${signedText(signing)}.${signing.nonce}`, "utf8")
    .digest("base64");
}

function signedText({ method, url, form }: PlivoSigning): string {
  const [base, query] = splitQuery(url);
  const fields = [...new URLSearchParams(form)];
  if (method === "GET") {
    const pairs = sortedPairs([...new URLSearchParams(query), ...fields]).map(
      ([name, value]) => `${name}=${value}`,
    );
    return pairs.length > 0 ? `${base}?${pairs.join("&")}` : base;
  }
  const queryText = sortedPairs([...new URLSearchParams(query)])
    .map(([name, value]) => `${name}=${value}`)
    .join("&");
  const fieldText = sortedPairs(fields)
    .map(([name, value]) => name + value)
    .join("");
  if (!queryText && fields.length === 0) return base;
  return `${base}?${queryText}${queryText && fields.length > 0 ? "." : ""}${fieldText}`;
}

function splitQuery(url: string): [string, string] {
  const at = url.indexOf("?");
  return at < 0 ? [url, ""] : [url.slice(0, at), url.slice(at + 1)];
}

function sortedPairs(pairs: [string, string][]): [string, string][] {
  return pairs.sort(([leftName, leftValue], [rightName, rightValue]) => {
    if (leftName !== rightName) return leftName < rightName ? -1 : 1;
    if (leftValue === rightValue) return 0;
    return leftValue < rightValue ? -1 : 1;
  });
}
