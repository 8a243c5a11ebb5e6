import { Socket } from "node:net";
import type { WebSocket } from "ws";
import type { VoiceSettings } from "./messages.ts";
import { openLine, type Line, type LineNews } from "./pacing-thread.ts";

type Callback = (error?: Error | null) => void;

/** The parts of a stream that its implementer provides. */
interface StreamParts {
  readonly destroyed: boolean;
  readonly _handle?: { readStop?(): void } | null;
  _write(chunk: Buffer | string, encoding: BufferEncoding, done: Callback): void;
  _writev(chunks: { chunk: Buffer | string; encoding: BufferEncoding }[], done: Callback): void;
  _final(done: Callback): void;
  _destroy(error: Error | null, done: Callback): void;
}

/**
 * Lets the pacing thread write to a WebSocket while this thread continues to read from it. All messages of this
 * thread go through the other one, so that none is torn. Returns undefined for a socket without a shareable
 * descriptor.
 */
export function takeOverSocket(
  socket: WebSocket,
  settings: VoiceSettings,
  tell: (news: LineNews) => void,
): Line | undefined {
  const tcp = (socket as unknown as { _socket?: unknown })._socket;
  if (!(tcp instanceof Socket) || "encrypted" in tcp || socket.extensions !== "") return undefined;
  const fd = (tcp as unknown as { _handle?: { fd?: number } })._handle?.fd ?? -1;
  if (fd < 0 || tcp.destroyed || tcp.writableLength > 0) return undefined;
  const line = openLine(fd, settings, tell);
  routeWrites(tcp as unknown as StreamParts, line);
  return line;
}

function routeWrites(tcp: StreamParts, line: Line): void {
  const { _final, _destroy } = tcp;
  tcp._write = (chunk, encoding, done) => {
    line.post({ type: "bytes", bytes: copied(chunk, encoding) });
    done();
  };
  tcp._writev = (chunks, done) => {
    const bytes = Buffer.concat(chunks.map(({ chunk, encoding }) => copied(chunk, encoding)));
    line.post({ type: "bytes", bytes });
    done();
  };
  tcp._final = (done) => void finish(tcp, line, _final, done);
  tcp._destroy = (error, done) => {
    tcp._handle?.readStop?.(); // data after destroy() would be taken for an error
    void release(line, () => _destroy.call(tcp, error, done));
  };
}

async function finish(
  tcp: StreamParts,
  line: Line,
  shutDown: StreamParts["_final"],
  done: Callback,
): Promise<void> {
  await line.finish();
  if (tcp.destroyed) return done();
  try {
    return shutDown.call(tcp, done);
  } catch {
    return done(); // the other side has reset the connection; it is closed next
  }
}

// A closed descriptor is reused by the next connection, so the other thread must release it first.
async function release(line: Line, close: () => void): Promise<void> {
  await line.release();
  close();
}

/** A transfer to another thread copies the whole buffer behind a view. */
function copied(chunk: Buffer | string, encoding: BufferEncoding): Uint8Array {
  return Uint8Array.from(typeof chunk === "string" ? Buffer.from(chunk, encoding) : chunk);
}
