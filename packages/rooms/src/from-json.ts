export interface MessageType<M> {
  fromBinary(bytes: Uint8Array): M;
  fromJsonString(text: string, options: { ignoreUnknownFields: boolean }): M;
}

/**
 * Throws on what the binary form cannot hold, too: the library reads any whole number for one of an enumeration, and
 * would fail only when another participant is to be told of it.
 */
export function fromJson<M extends { toBinary(): Uint8Array }>(type: MessageType<M>, bytes: Buffer): M {
  const message = type.fromJsonString(bytes.toString("utf8"), { ignoreUnknownFields: true });
  return type.fromBinary(message.toBinary());
}
