export type SessionId = string & { readonly brand: "SessionId" };
export type PeerId = string & { readonly brand: "PeerId" };

export function newSessionId(): SessionId {
  return crypto.randomUUID() as SessionId;
}

export function newPeerId(): PeerId {
  return crypto.randomUUID() as PeerId;
}
