import { keccak256 } from './digest.ts';

/* Hashes of EIP-712 for structs with members of these types. Each member is one word; the last three types are hashed first. */

export type MemberType = 'address' | 'uint256' | 'uint64' | 'bytes32' | 'bytes' | 'string' | 'string[]';

export interface TypedMember {
  readonly name: string;
  readonly type: MemberType;
}

/** An EIP-712 domain without a contract. */
export interface TypedDomain {
  readonly name: string;
  readonly version: string;
  readonly chainId: number;
  readonly salt?: `0x${string}`;
}

/** A struct as its type hash and its members. */
export interface TypedStruct {
  readonly type_hash: Uint8Array;
  readonly members: readonly TypedMember[];
}

export function typedStruct(name: string, members: readonly TypedMember[]): TypedStruct {
  return { type_hash: hashedText(`${name}(${members.map(({ name, type }) => `${type} ${name}`).join(',')})`), members };
}

/** The signed hash (EIP-712 "hashTypedData"). In a message numbers are bigint, bytes 0x and hex. */
export function typedDataDigest(
  domain: TypedDomain,
  { type_hash, members }: TypedStruct,
  message: Readonly<Record<string, unknown>>,
): Uint8Array {
  const encoded = members.map(({ name, type }) => encode[type](message[name]));
  const struct = keccak256(Buffer.concat([type_hash, ...encoded]));
  return keccak256(Buffer.concat([PREFIX, separatorOf(domain), struct]));
}

function hashedText(value: string): Uint8Array {
  return keccak256(Buffer.from(value));
}

function number(value: bigint): Buffer {
  return Buffer.from(value.toString(16).padStart(64, '0'), 'hex');
}

function padWord(value: string): Buffer {
  return Buffer.from(value.slice(2).padStart(64, '0'), 'hex');
}

/** One word of 32 bytes for each member (EIP-712 "encodeData"). */
const encode = {
  address: (value: unknown) => padWord(String(value)),
  bytes32: (value: unknown) => padWord(String(value)),
  uint256: (value: unknown) => number(value as bigint),
  uint64: (value: unknown) => number(value as bigint),
  string: (value: unknown) => hashedText(String(value)),
  bytes: (value: unknown) => keccak256(Buffer.from(String(value).slice(2), 'hex')),
  'string[]': (value: unknown) => keccak256(Buffer.concat((value as readonly string[]).map(hashedText))),
} as const satisfies Record<MemberType, (value: unknown) => Uint8Array>;

/** Version 0x01 of EIP-191. */
const PREFIX = Buffer.from('1901', 'hex');

const DOMAIN = ['string name', 'string version', 'uint256 chainId'];

/** EIP-712 "domainSeparator", over the members that the domain has. */
function separatorOf({ name, version, chainId, salt }: TypedDomain): Uint8Array {
  const members = salt === undefined ? DOMAIN : [...DOMAIN, 'bytes32 salt'];
  return keccak256(
    Buffer.concat([
      hashedText(`EIP712Domain(${members.join(',')})`),
      hashedText(name),
      hashedText(version),
      number(BigInt(chainId)),
      ...(salt === undefined ? [] : [padWord(salt)]),
    ]),
  );
}
