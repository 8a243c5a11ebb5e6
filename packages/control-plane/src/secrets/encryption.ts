import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import type { MasterKey, MasterKeys } from "./master-keys.ts";

const ALGORITHM = "aes-256-gcm";
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** The owner of a ciphertext, which cannot be decrypted under another one. */
export interface SealedPlace {
  organizationId: string;
  setId: string;
  version: number;
}

export interface WrappedKey {
  wrappedKey: string;
  masterKeyId: string;
}

/** Encrypts the values of one version of one secret set. */
export interface DataKey {
  encrypt(fieldName: string, value: string): string;
  /** Throws if the text was altered or belongs to another owner. */
  decrypt(fieldName: string, ciphertext: string): string;
}

export function createDataKey(
  masterKeys: MasterKeys,
  place: SealedPlace,
): { dataKey: DataKey; wrapped: WrappedKey } {
  const key = randomBytes(KEY_BYTES);
  return { dataKey: toDataKey(key, place), wrapped: wrap(masterKeys[0], key, place) };
}

export function openDataKey(masterKeys: MasterKeys, wrapped: WrappedKey, place: SealedPlace): DataKey {
  return toDataKey(unwrap(masterKeys, wrapped, place), place);
}

/** Encrypts the same data key with the first master key; values stay unchanged. */
export function rewrapDataKey(masterKeys: MasterKeys, wrapped: WrappedKey, place: SealedPlace): WrappedKey {
  return wrap(masterKeys[0], unwrap(masterKeys, wrapped, place), place);
}

function toDataKey(key: Buffer, place: SealedPlace): DataKey {
  return {
    encrypt: (fieldName, value) => seal(key, Buffer.from(value), placeOf(place, fieldName)),
    decrypt: (fieldName, ciphertext) => unseal(key, ciphertext, placeOf(place, fieldName)).toString(),
  };
}

function wrap(master: MasterKey, key: Buffer, place: SealedPlace): WrappedKey {
  return { wrappedKey: seal(master.key, key, placeOf(place, "")), masterKeyId: master.id };
}

function unwrap(masterKeys: MasterKeys, wrapped: WrappedKey, place: SealedPlace): Buffer {
  const master = masterKeys.find((key) => key.id === wrapped.masterKeyId);
  if (!master) throw new Error(`Master key ${wrapped.masterKeyId} is not configured`);
  return unseal(master.key, wrapped.wrappedKey, placeOf(place, ""));
}

/** No part can contain the separator: ids are UUIDs, and names of fields are validated. A wrapped key has no field. */
function placeOf(place: SealedPlace, fieldName: string): Buffer {
  return Buffer.from([place.organizationId, place.setId, fieldName, place.version].join("|"));
}

/** Returns base64 of nonce, tag and ciphertext. */
function seal(key: Buffer, plain: Buffer, associated: Buffer): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(ALGORITHM, key, nonce).setAAD(associated);
  const sealed = Buffer.concat([cipher.update(plain), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString("base64");
}

function unseal(key: Buffer, text: string, associated: Buffer): Buffer {
  const bytes = Buffer.from(text, "base64");
  const nonce = bytes.subarray(0, NONCE_BYTES);
  const tag = bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES);
  const decipher = createDecipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES })
    .setAAD(associated)
    .setAuthTag(tag);
  return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]);
}
