import { keccak256 } from '../digest.ts';
import { type MemberType, type SessionType, sessionDomain, sessionTypes, type TypedMember } from './typed-data.ts';

/* The hashes of EIP-712, of the messages that sessions sign. */

export type HexHash = `0x${string}`;

type Value<T extends MemberType> = T extends 'uint256' | 'uint64'
  ? bigint
  : T extends 'string'
    ? string
    : T extends 'string[]'
      ? readonly string[]
      : `0x${string}`;

/** A message of that type, its members by their names: numbers are bigint, bytes 0x and hex. */
export type SessionMessage<T extends SessionType> = {
  readonly [M in (typeof sessionTypes)[T][number] as M['name']]: Value<M['type']>;
};

/**
 * What is signed (EIP-712 "hashTypedData"): the digest over domain and message. Of an AuthorizeSession it is the delegation
 * hash, so that a session's name says its chain and version, and every wallet library can compute it.
 */
export function sessionDigest<T extends SessionType>(type: T, message: SessionMessage<T>): Uint8Array {
  const members: readonly TypedMember[] = sessionTypes[type];
  const encoded = members.map(({ name, type }) => word(type, (message as Readonly<Record<string, unknown>>)[name]));
  return keccak256(Buffer.concat([PREFIX, SEPARATOR, keccak256(Buffer.concat([typeHashes[type], ...encoded]))]));
}

export function hashHex(digest: Uint8Array): HexHash {
  return `0x${Buffer.from(digest).toString('hex')}`;
}

/** `AuthorizeSession(address payer,…)`, hashed. */
function typeHash(name: string, members: readonly TypedMember[]): Uint8Array {
  return text(`${name}(${members.map(({ name, type }) => `${type} ${name}`).join(',')})`);
}

function text(value: string): Uint8Array {
  return keccak256(Buffer.from(value));
}

function number(value: bigint): Buffer {
  return Buffer.from(value.toString(16).padStart(64, '0'), 'hex');
}

function padded(value: string): Buffer {
  return Buffer.from(value.slice(2).padStart(64, '0'), 'hex');
}

/** One word of 32 bytes for each member (EIP-712 "encodeData"). */
const encode = {
  address: (value: unknown) => padded(String(value)),
  bytes32: (value: unknown) => padded(String(value)),
  uint256: (value: unknown) => number(value as bigint),
  uint64: (value: unknown) => number(value as bigint),
  string: (value: unknown) => text(String(value)),
  bytes: (value: unknown) => keccak256(Buffer.from(String(value).slice(2), 'hex')),
  'string[]': (value: unknown) => keccak256(Buffer.concat((value as readonly string[]).map(text))),
} as const satisfies Record<MemberType, (value: unknown) => Uint8Array>;

function word(type: MemberType, value: unknown): Uint8Array {
  return encode[type](value);
}

/** Version 0x01 of EIP-191. */
const PREFIX = Buffer.from('1901', 'hex');

const SEPARATOR = keccak256(
  Buffer.concat([
    text('EIP712Domain(string name,string version,uint256 chainId)'),
    text(sessionDomain.name),
    text(sessionDomain.version),
    number(BigInt(sessionDomain.chainId)),
  ]),
);

const typeHashes = Object.fromEntries(
  Object.entries(sessionTypes).map(([name, members]) => [name, typeHash(name, members)]),
) as Record<SessionType, Uint8Array>;
