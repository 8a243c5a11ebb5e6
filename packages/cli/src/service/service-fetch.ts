import { version } from "../version.ts";

export interface ServiceFetchOptions {
  /** Ends reads. What changes something is let finish, so that it is known whether it did. */
  signal: AbortSignal;
  /** Bytes of an upload that have gone out. */
  onUpload?: (sentBytes: number) => void;
}

const READ_MS = 30_000;
const CHANGE_MS = 60_000;
const UPLOAD_MS = 15 * 60_000; // how long an upload's address lives

/** As commands ask the service: with a name, a deadline, and an eye on Ctrl-C. */
export function createServiceFetch({ signal, onUpload }: ServiceFetchOptions): typeof fetch {
  return async (input, init = {}) => {
    const headers = new Headers(init.headers);
    headers.set("user-agent", `VocalhostCLI/${version}`);
    if (init.signal) return fetch(input, { ...init, headers }); // a stream, which has its own end
    if (init.body instanceof FormData) {
      const form = new Response(init.body);
      headers.set("content-type", form.headers.get("content-type") ?? "");
      const until = AbortSignal.any([signal, AbortSignal.timeout(UPLOAD_MS)]);
      const body = form.body?.pipeThrough(counted(onUpload));
      const streamed = { ...init, headers, body: body ?? null, duplex: "half", signal: until };
      return fetch(input, streamed as RequestInit);
    }
    const isRead = (init.method ?? "GET") === "GET";
    const deadline = AbortSignal.timeout(isRead ? READ_MS : CHANGE_MS);
    return fetch(input, {
      ...init,
      headers,
      signal: isRead ? AbortSignal.any([signal, deadline]) : deadline,
    });
  };
}

function counted(onBytes: ((count: number) => void) | undefined): TransformStream<Uint8Array, Uint8Array> {
  let count = 0;
  return new TransformStream({
    transform(piece, controller) {
      count += piece.length;
      onBytes?.(count);
      controller.enqueue(piece);
    },
  });
}
