import type { V1ObjectMeta } from "@kubernetes/client-node";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** As much of an API server as the driver uses, as strict as the real one where the driver depends on it. */
export interface StandInApi extends AsyncDisposable {
  readonly url: string;
  readonly token: string;
  /** Every request, as `METHOD /path`. */
  readonly requests: string[];
  objects(kind: string): ApiObject[];
  find(kind: string, name: string): ApiObject | undefined;
  /** As a node or a controller of the cluster would. */
  change(kind: string, name: string, change: (object: ApiObject) => void): void;
  /** The pod no longer runs: it is deleted unless it has a finalizer. */
  released(name: string): void;
  onChange(listener: (kind: string, object: ApiObject) => void): void;
  /** Serves what comes below `pods/{name}/log`. */
  logs(serve: (name: string, query: URLSearchParams, response: ServerResponse) => void): void;
  /** The next request that fits is answered so, and does nothing. */
  refuseNext(fits: RegExp, answer: { code: number; status?: object; headers?: Record<string, string> }): void;
  /** Ends every watch, with or without a word. */
  endWatches(): void;
  /** Forgets what happened: watches cannot be resumed from before. */
  compact(): void;
  /** The server does not answer until it is started again. */
  stop(): Promise<void>;
  start(): Promise<void>;
}

export interface ApiObject {
  kind?: string;
  metadata: V1ObjectMeta & { deletionGracePeriodSeconds?: number };
  // Any value: the driver's types are stricter.
  // oxlint-disable-next-line typescript/no-explicit-any
  [field: string]: any;
}

interface Event {
  version: number;
  kind: string;
  type: "ADDED" | "MODIFIED" | "DELETED";
  object: ApiObject;
}

const NAME = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/;
const LABEL = /^(?:[A-Za-z0-9](?:[-\w.]{0,61}[A-Za-z0-9])?)?$/;
const KINDS = ["pods", "secrets", "configmaps", "poddisruptionbudgets"];

export interface StandInApiOptions {
  /**
   * The server's answer to resizing a running pod: servers before 1.33 do not know it, and a role may forbid it.
   * @default "allowed"
   */
  resizing?: "allowed" | "forbidden" | "unknown";
}

export async function startStandInApi({ resizing = "allowed" }: StandInApiOptions = {}): Promise<StandInApi> {
  const token = randomUUID();
  const objects = new Map<string, Map<string, ApiObject>>(KINDS.map((kind) => [kind, new Map()]));
  const listeners = new Set<(kind: string, object: ApiObject) => void>();
  const watches = new Set<{ kind: string; selector: string; response: ServerResponse }>();
  const refusals: { fits: RegExp; code: number; status?: object; headers?: Record<string, string> }[] = [];
  const requests: string[] = [];
  let history: Event[] = [];
  let oldest = 0;
  let version = 1_000;
  let serveLog: (name: string, query: URLSearchParams, response: ServerResponse) => void = () => undefined;

  const of = (kind: string): Map<string, ApiObject> => objects.get(kind) ?? new Map<string, ApiObject>();

  function happened(type: Event["type"], kind: string, object: ApiObject): void {
    object.metadata.resourceVersion = String(++version);
    const event = { version, kind, type, object: structuredClone(object) };
    history.push(event);
    for (const watch of watches) if (watch.kind === kind) tell(watch, event);
    queueMicrotask(() => listeners.forEach((listener) => listener(kind, object)));
  }

  function tell({ response, selector }: { response: ServerResponse; selector: string }, event: Event): void {
    if (!isSelected(event.object, selector)) return;
    response.write(`${JSON.stringify({ type: event.type, object: event.object })}\n`);
  }

  function change(kind: string, name: string, how: (object: ApiObject) => void): void {
    const object = of(kind).get(name);
    if (!object) return;
    how(object);
    happened("MODIFIED", kind, object);
  }

  /** Deletes an object that has no finalizer left; a pod only when its node has released it as well. */
  function goIfFree(kind: string, object: ApiObject): void {
    const { deletionTimestamp, finalizers = [], deletionGracePeriodSeconds = 0, name = "" } = object.metadata;
    if (deletionTimestamp === undefined || finalizers.length > 0) return;
    if (kind === "pods" && deletionGracePeriodSeconds > 0) return;
    of(kind).delete(name);
    happened("DELETED", kind, object);
    for (const [other, all] of objects)
      for (const owned of [...all.values()])
        if (owned.metadata.ownerReferences?.some(({ uid }) => uid === object.metadata.uid))
          remove(other, owned, undefined);
  }

  function remove(kind: string, object: ApiObject, graceSeconds: number | undefined): void {
    const isPlaced = kind === "pods" && object["spec"]?.nodeName !== undefined;
    const isOver = /^(?:Succeeded|Failed)$/.test(object["status"]?.phase ?? "");
    const grace =
      isPlaced && !isOver ? (graceSeconds ?? object["spec"]?.terminationGracePeriodSeconds ?? 30) : 0;
    object.metadata.deletionTimestamp ??= new Date();
    object.metadata.deletionGracePeriodSeconds = Math.min(
      grace,
      object.metadata.deletionGracePeriodSeconds ?? Infinity,
    );
    happened("MODIFIED", kind, object);
    goIfFree(kind, object);
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", "http://cluster");
    const line = `${request.method} ${url.pathname}`;
    requests.push(line);
    const body = await bodyOf(request);
    const refusal = refusals.findIndex(({ fits }) => fits.test(`${line}${url.search}`));
    if (refusal >= 0) {
      const [{ code, status, headers } = { code: 500 }] = refusals.splice(refusal, 1);
      return send(response, code, status ?? statusOf(code, "Refused", "refused by the test"), headers);
    }
    if (request.headers.authorization !== `Bearer ${token}`)
      return send(response, 401, statusOf(401, "Unauthorized", "Unauthorized"));
    if (line === "GET /api/v1") return send(response, 200, { kind: "APIResourceList", resources: offered() });
    if (line === "POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews")
      return send(response, 201, review(JSON.parse(body) as ApiObject));
    const [, kind = "", name, sub] =
      /^\/(?:api\/v1|apis\/policy\/v1)\/namespaces\/bots\/([a-z]+)(?:\/([^/]+))?(?:\/([a-z]+))?$/.exec(
        url.pathname,
      ) ?? [];
    if (!objects.has(kind)) return send(response, 404, statusOf(404, "NotFound", "no such resource"));
    if (sub === "log" && name !== undefined) return log(name, url.searchParams, response);
    if (name === undefined) return collection(kind, request, { url, body, response });
    const found = of(kind).get(name);
    if (!found) return send(response, 404, statusOf(404, "NotFound", `${kind} "${name}" not found`));
    if (sub === "resize") return resize(found, request, { body, response });
    return single(kind, found, request, { body, response });
  }

  function offered(): { name: string }[] {
    const names = [...KINDS, "pods/log", ...(resizing === "unknown" ? [] : ["pods/resize"])];
    return names.map((name) => ({ name }));
  }

  function review(asked: ApiObject): object {
    const { namespace, verb, resource, subresource } = asked["spec"].resourceAttributes;
    const isResize = [namespace, verb, resource, subresource].join(" ") === "bots patch pods resize";
    return { ...asked, status: { allowed: isResize && resizing === "allowed" } };
  }

  /** Resources and nothing else; lists are merged by name in such a patch. */
  function resize(
    pod: ApiObject,
    request: IncomingMessage,
    { body, response }: { body: string; response: ServerResponse },
  ): void {
    if (resizing !== "allowed") return send(response, 403, statusOf(403, "Forbidden", "may not resize"));
    if (request.headers["content-type"] !== "application/strategic-merge-patch+json")
      return send(response, 415, statusOf(415, "UnsupportedMediaType", "no such patch here"));
    const { spec } = JSON.parse(body) as { spec: { containers: { name: string; resources: object }[] } };
    for (const { name, resources } of spec.containers) {
      const container = (pod["spec"].containers as { name: string }[]).find((each) => each.name === name);
      if (container) merge(container, { resources });
    }
    happened("MODIFIED", "pods", pod);
    return send(response, 200, pod);
  }

  function log(name: string, query: URLSearchParams, response: ServerResponse): void {
    const pod = of("pods").get(name);
    if (!pod) return send(response, 404, statusOf(404, "NotFound", `pods "${name}" not found`));
    const state = pod["status"]?.containerStatuses?.[0]?.state;
    if (!state || state.waiting)
      return send(response, 400, statusOf(400, "BadRequest", "container is waiting to start"));
    return serveLog(name, query, response);
  }

  function collection(
    kind: string,
    request: IncomingMessage,
    { url, body, response }: { url: URL; body: string; response: ServerResponse },
  ): void {
    const selector = url.searchParams.get("labelSelector") ?? "";
    if (request.method === "POST") return create(kind, JSON.parse(body) as ApiObject, response);
    if (request.method !== "GET") return send(response, 405, statusOf(405, "MethodNotAllowed", "no"));
    if (url.searchParams.get("watch") === "true")
      return watch(kind, selector, url.searchParams.get("resourceVersion"), response);
    const items = [...of(kind).values()].filter((object) => isSelected(object, selector));
    return send(response, 200, { kind: "List", metadata: { resourceVersion: String(version) }, items });
  }

  function watch(kind: string, selector: string, from: string | null, response: ServerResponse): void {
    response.writeHead(200, { "content-type": "application/json" }).flushHeaders();
    if (Number(from) < oldest) {
      const object = statusOf(410, "Expired", `too old resource version: ${from} (${oldest})`);
      return void response.end(`${JSON.stringify({ type: "ERROR", object })}\n`);
    }
    const entry = { kind, selector, response };
    for (const event of history) if (event.kind === kind && event.version > Number(from)) tell(entry, event);
    watches.add(entry);
    response.on("close", () => watches.delete(entry));
  }

  function create(kind: string, object: ApiObject, response: ServerResponse): void {
    const { name = "" } = object.metadata;
    const why = whyInvalid(kind, object);
    if (why !== undefined) return send(response, 422, statusOf(422, "Invalid", why));
    if (of(kind).has(name))
      return send(response, 409, statusOf(409, "AlreadyExists", `${kind} "${name}" already exists`));
    object.metadata = {
      ...object.metadata,
      uid: randomUUID(),
      creationTimestamp: new Date(),
      namespace: "bots",
    };
    if (object["stringData"]) {
      object["data"] = Object.fromEntries(
        Object.entries(object["stringData"] as Record<string, string>).map(([key, value]) => [
          key,
          Buffer.from(value).toString("base64"),
        ]),
      );
      delete object["stringData"];
    }
    if (kind === "pods") object["status"] = { phase: "Pending" };
    of(kind).set(name, object);
    happened("ADDED", kind, object);
    return send(response, 201, object);
  }

  function single(
    kind: string,
    object: ApiObject,
    request: IncomingMessage,
    { body, response }: { body: string; response: ServerResponse },
  ): void {
    const asked = (body === "" ? {} : JSON.parse(body)) as ApiObject & {
      gracePeriodSeconds?: number;
      preconditions?: { uid?: string };
    };
    const conflict = (): void =>
      send(
        response,
        409,
        statusOf(409, "Conflict", "the object has been modified; please apply your changes"),
      );
    const isStale = ({ resourceVersion, uid }: V1ObjectMeta): boolean =>
      (resourceVersion !== undefined && resourceVersion !== object.metadata.resourceVersion) ||
      (uid !== undefined && uid !== object.metadata.uid);
    switch (request.method) {
      case "GET":
        return send(response, 200, object);
      case "PUT":
        if (isStale(asked.metadata)) return conflict();
        object["data"] = asked["data"];
        happened("MODIFIED", kind, object);
        return send(response, 200, object);
      case "PATCH": {
        if (request.headers["content-type"] !== "application/merge-patch+json")
          return send(response, 415, statusOf(415, "UnsupportedMediaType", "no such patch here"));
        if (isStale(asked.metadata)) return conflict();
        merge(object, { metadata: { ...asked.metadata, resourceVersion: undefined } });
        happened("MODIFIED", kind, object);
        goIfFree(kind, object);
        return send(response, 200, object);
      }
      case "DELETE":
        if (isStale({ uid: asked.preconditions?.uid })) return conflict();
        remove(kind, object, asked.gracePeriodSeconds);
        return send(response, 200, object);
      default:
        return send(response, 405, statusOf(405, "MethodNotAllowed", "no"));
    }
  }

  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) =>
      send(response, 500, statusOf(500, "InternalError", String(error))),
    );
  });
  let port = 0;
  const start = async (): Promise<void> => {
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
    ({ port } = server.address() as AddressInfo);
  };
  const stop = async (): Promise<void> => {
    const closed = once(server, "close");
    server.close();
    server.closeAllConnections();
    await closed;
  };
  await start();
  return {
    url: `http://127.0.0.1:${port}`,
    token,
    requests,
    objects: (kind) => [...of(kind).values()],
    find: (kind, name) => of(kind).get(name),
    change,
    released(name) {
      const pod = of("pods").get(name);
      if (!pod || pod.metadata.deletionTimestamp === undefined) return;
      pod.metadata.deletionGracePeriodSeconds = 0;
      happened("MODIFIED", "pods", pod);
      goIfFree("pods", pod);
    },
    onChange: (listener) => void listeners.add(listener),
    logs: (serve) => void (serveLog = serve),
    refuseNext: (fits, refusal) => void refusals.push({ fits, ...refusal }),
    endWatches() {
      for (const { response } of watches) response.destroy();
    },
    compact() {
      history = [];
      oldest = version;
    },
    start,
    stop,
    async [Symbol.asyncDispose]() {
      if (server.listening) await stop();
    },
  };
}

function whyInvalid(kind: string, { metadata, ...object }: ApiObject): string | undefined {
  if (!NAME.test(metadata.name ?? "") || (metadata.name ?? "").length > 253)
    return "metadata.name: Invalid value";
  for (const [key, value] of Object.entries(metadata.labels ?? {}))
    if (!LABEL.test(value)) return `metadata.labels: Invalid value: ${key}=${value}`;
  for (const owner of metadata.ownerReferences ?? [])
    if (!owner.uid || !owner.name || !owner.kind) return "metadata.ownerReferences: uid must not be empty";
  if (metadata.finalizers?.some((name) => !name.includes("/")))
    return "metadata.finalizers: name is not qualified";
  if (kind !== "pods") return undefined;
  const [container] = (object["spec"]?.containers ?? []) as { image?: string; name?: string }[];
  return container?.image && container.name ? undefined : "spec.containers[0].image: Required value";
}

function isSelected({ metadata }: ApiObject, selector: string): boolean {
  return selector
    .split(",")
    .filter(Boolean)
    .every((part) => {
      const [key = "", value] = part.split("=");
      return metadata.labels?.[key] === value;
    });
}

function merge(into: Record<string, unknown>, patch: Record<string, unknown>): void {
  for (const [key, value] of Object.entries(patch))
    if (value === undefined) continue;
    else if (value === null) delete into[key];
    else if (typeof value === "object" && !Array.isArray(value))
      merge((into[key] ??= {}) as Record<string, unknown>, value as Record<string, unknown>);
    else into[key] = value;
}

function statusOf(code: number, reason: string, message: string): object {
  return { kind: "Status", status: "Failure", code, reason, message };
}

function send(
  response: ServerResponse,
  code: number,
  body: object,
  headers: Record<string, string> = {},
): void {
  response.writeHead(code, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request.setEncoding("utf8") as AsyncIterable<string>) text += chunk;
  return text;
}
