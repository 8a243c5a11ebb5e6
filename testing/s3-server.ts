import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { listenOnLoopback } from "./loopback-server.ts";

/**
 * An object storage as strict as the documentation of the S3 interface: every request is signed (version 4), every
 * checksum that is sent is checked, and what is not known is refused. One bucket, addressed by path.
 */
export interface S3Server extends AsyncDisposable {
  readonly endpoint: string;
  readonly bucket: string;
  readonly region: string;
  readonly credentials: { accessKeyId: string; secretAccessKey: string };
  readonly objects: Map<string, StoredObject>;
  /** Codes of refused requests. */
  readonly refusals: string[];
  /** The next requests are answered with 503, so many of them. */
  failNext(times: number): void;
}

export interface StoredObject {
  body: Buffer;
  metadata: Record<string, string>;
  putAt: Date;
}

const REGION = "eu-test-1";
const SKEW_MS = 15 * 60_000;
const PAGE = 2; // small, so that lists have several

export async function startS3Server(bucket = "builds"): Promise<S3Server> {
  const credentials = { accessKeyId: "AKIDTEST", secretAccessKey: "a secret of the tests" };
  const objects = new Map<string, StoredObject>();
  const refusals: string[] = [];
  let failing = 0;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readAll(request);
    if (failing > 0) {
      failing -= 1;
      throw new Refusal(503, "SlowDown");
    }
    checkSignature(request, body, credentials);
    const url = new URL(request.url ?? "/", "http://storage");
    const [, named = "", ...rest] = url.pathname.split("/");
    const key = decodeURIComponent(rest.join("/"));
    if (decodeURIComponent(named) !== bucket) throw new Refusal(404, "NoSuchBucket");
    if (key === "" && request.method === "GET" && url.searchParams.get("list-type") === "2")
      return list(url.searchParams, response);
    const stored = objects.get(key);
    switch (request.method) {
      case "PUT":
        if (request.headers["x-amz-copy-source"]) return copy(request, key, response);
        objects.set(key, { body, metadata: metadataOf(request), putAt: new Date() });
        return void response.writeHead(200, { etag: `"${md5(body)}"` }).end();
      case "GET":
      case "HEAD": {
        if (!stored) throw new Refusal(404, "NoSuchKey");
        response.writeHead(200, {
          "content-length": stored.body.length,
          etag: `"${md5(stored.body)}"`,
          "last-modified": stored.putAt.toUTCString(),
          ...Object.fromEntries(
            Object.entries(stored.metadata).map(([name, text]) => [`x-amz-meta-${name}`, text]),
          ),
        });
        return void response.end(request.method === "GET" ? stored.body : undefined);
      }
      case "DELETE":
        objects.delete(key);
        return void response.writeHead(204).end();
      default:
        throw new Refusal(405, "MethodNotAllowed");
    }
  }

  function copy({ headers }: IncomingMessage, key: string, response: ServerResponse): void {
    const [named, ...rest] = decodeURIComponent(String(headers["x-amz-copy-source"])).split("/");
    const stored = objects.get(rest.join("/"));
    if (named !== bucket || !stored) throw new Refusal(404, "NoSuchKey");
    objects.set(key, { ...stored, putAt: new Date() });
    response
      .writeHead(200, { "content-type": "application/xml" })
      .end(`<CopyObjectResult><ETag>"${md5(stored.body)}"</ETag></CopyObjectResult>`);
  }

  function list(query: URLSearchParams, response: ServerResponse): void {
    const prefix = query.get("prefix") ?? "";
    const after = query.get("continuation-token") ?? "";
    const keys = [...objects.keys()].filter((key) => key.startsWith(prefix) && key > after).sort();
    const page = keys.slice(0, PAGE);
    const isMore = keys.length > page.length;
    const contents = page.map((key) => {
      const { body, putAt } = objects.get(key)!;
      return `<Contents><Key>${key}</Key><LastModified>${putAt.toISOString()}</LastModified><Size>${body.length}</Size></Contents>`;
    });
    const next = isMore ? `<NextContinuationToken>${page.at(-1)}</NextContinuationToken>` : "";
    response
      .writeHead(200, { "content-type": "application/xml" })
      .end(
        `<?xml version="1.0" encoding="UTF-8"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">` +
          `<Name>${bucket}</Name><Prefix>${prefix}</Prefix><KeyCount>${page.length}</KeyCount>` +
          `<IsTruncated>${isMore}</IsTruncated>${next}${contents.join("")}</ListBucketResult>`,
      );
  }

  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      const { status, code } = error instanceof Refusal ? error : new Refusal(500, "InternalError");
      refusals.push(code);
      const text = `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>${code}</Message></Error>`;
      response
        .writeHead(status, { "content-type": "application/xml" })
        .end(request.method === "HEAD" ? undefined : text);
    });
  });
  const listening = await listenOnLoopback(server);
  return {
    endpoint: listening.url,
    bucket,
    region: REGION,
    credentials,
    objects,
    refusals,
    failNext: (times) => void (failing = times),
    [Symbol.asyncDispose]: () => listening[Symbol.asyncDispose](),
  };
}

class Refusal extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string) {
    super(code);
    this.status = status;
    this.code = code;
  }
}

/** From the documentation of signature version 4, and from no client's code. */
function checkSignature(
  request: IncomingMessage,
  body: Buffer,
  { accessKeyId, secretAccessKey }: S3Server["credentials"],
): void {
  const { headers } = request;
  const match =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, *SignedHeaders=([a-z0-9;-]+), *Signature=([0-9a-f]{64})$/.exec(
      headers.authorization ?? "",
    );
  if (!match) throw new Refusal(403, "AccessDenied");
  const [, keyId, day = "", region = "", signedHeaders = "", signature = ""] = match;
  if (keyId !== accessKeyId) throw new Refusal(403, "InvalidAccessKeyId");
  const time = String(headers["x-amz-date"]);
  if (region !== REGION || !time.startsWith(day)) throw new Refusal(400, "AuthorizationHeaderMalformed");
  const at = Date.parse(time.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z"));
  if (!(Math.abs(Date.now() - at) < SKEW_MS)) throw new Refusal(403, "RequestTimeTooSkewed");
  const names = signedHeaders.split(";");
  const mustBeSigned = Object.keys(headers).filter((name) => name === "host" || name.startsWith("x-amz-"));
  if (mustBeSigned.some((name) => !names.includes(name))) throw new Refusal(403, "AccessDenied");
  const payload = String(headers["x-amz-content-sha256"]);
  if (payload !== "UNSIGNED-PAYLOAD" && payload !== sha256(body).toString("hex"))
    throw new Refusal(400, "XAmzContentSHA256Mismatch");
  const [path = "", query = ""] = (request.url ?? "").split("?");
  const canonical = [
    request.method,
    path,
    query
      .split("&")
      .filter((part) => part !== "")
      .map((part) => (part.includes("=") ? part : `${part}=`))
      .sort()
      .join("&"),
    ...names.map((name) => `${name}:${String(headers[name]).trim().replace(/ +/g, " ")}`),
    "",
    signedHeaders,
    payload,
  ].join("\n");
  const scope = `${day}/${region}/s3/aws4_request`;
  const toSign = ["AWS4-HMAC-SHA256", time, scope, sha256(canonical).toString("hex")].join("\n");
  const key = [day, region, "s3", "aws4_request"].reduce<Buffer>(
    (secret, part) => hmac(secret, part),
    Buffer.from(`AWS4${secretAccessKey}`),
  );
  if (!timingSafeEqual(hmac(key, toSign), Buffer.from(signature, "hex")))
    throw new Refusal(403, "SignatureDoesNotMatch");
  const checksum = headers["x-amz-checksum-sha256"];
  if (checksum !== undefined && checksum !== sha256(body).toString("base64"))
    throw new Refusal(400, "BadDigest");
}

async function readAll(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  const body = Buffer.concat(chunks);
  if (request.method !== "PUT") return body;
  if (request.headers["content-length"] === undefined) throw new Refusal(411, "MissingContentLength");
  if (Number(request.headers["content-length"]) !== body.length) throw new Refusal(400, "IncompleteBody");
  return body;
}

function metadataOf({ headers }: IncomingMessage): Record<string, string> {
  const mark = "x-amz-meta-";
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, text]) =>
      name.startsWith(mark) ? [[name.slice(mark.length), String(text)]] : [],
    ),
  );
}

function sha256(bytes: string | Buffer): Buffer {
  return createHash("sha256").update(bytes).digest();
}

function md5(bytes: Buffer): string {
  return createHash("md5").update(bytes).digest("hex");
}

function hmac(key: Buffer, text: string): Buffer {
  return createHmac("sha256", key).update(text).digest();
}
