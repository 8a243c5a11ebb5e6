import type { Variables } from "./carrier.ts";
import {
  carrierNames,
  carriers,
  type CarrierAccounts,
  type CarrierAddresses,
  type CarrierName,
} from "./carriers.ts";

/** The accounts that environment variables or secrets name. An account counts when all of it is set. */
export function readCarrierAccounts(
  variables: Variables,
  addresses: CarrierAddresses = readCarrierAddresses(variables),
): CarrierAccounts {
  return {
    ...forEach((name) => {
      const { parts, dialling = {} } = carriers[name].account;
      const account = setParts(parts, variables);
      if (Object.keys(account).length < Object.keys(parts).length) return undefined;
      return { ...account, ...setParts(dialling, variables) };
    }),
    phoneNumbers: setParts(forEach(phoneNumberVariable), variables),
    addresses,
  };
}

/** Where the carriers' REST interfaces are, unless variables say otherwise. */
export function readCarrierAddresses(variables: Variables): CarrierAddresses {
  return forEach((name) => {
    const told = variables[`${name.toUpperCase()}_API_URL`];
    return told ? told.replace(/\/+$/, "") : carriers[name].account.address(variables);
  });
}

/** The keys that webhooks and upgrades are checked with, of the carriers that sign. */
export type SignatureKeys = Partial<Record<CarrierName, string>>;

export function readSignatureKeys(variables: Variables): SignatureKeys {
  return setParts(
    forEach((name) => carriers[name].signature?.variable ?? ""),
    variables,
  );
}

export function phoneNumberVariable(carrier: CarrierName): string {
  return `${carrier.toUpperCase()}_PHONE_NUMBER`;
}

/** The variables an account is made of, for an operator who has set none. */
export function accountVariables(carrier: CarrierName, purpose: "calls" | "dialling"): string[] {
  const { parts, dialling = {} } = carriers[carrier].account;
  return Object.values(purpose === "dialling" ? { ...parts, ...dialling } : parts);
}

function setParts<Part extends string>(
  parts: Readonly<Record<Part, string>>,
  variables: Variables,
): Partial<Record<Part, string>> {
  const set = Object.entries<string>(parts).filter(([, variable]) => variables[variable]);
  return Object.fromEntries(set.map(([part, variable]) => [part, variables[variable]])) as Partial<
    Record<Part, string>
  >;
}

function forEach<T>(make: (name: CarrierName) => T): Record<CarrierName, T> {
  return Object.fromEntries(carrierNames.map((name) => [name, make(name)])) as Record<CarrierName, T>;
}
