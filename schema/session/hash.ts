import { type MemberType, typedDataDigest, typedStruct } from '../typed-hash.ts';
import { type SessionDomain, type SessionType, sessionTypes } from './typed-data.ts';

/* Hashes of what sessions sign (EIP-712). */

export type HexHash = `0x${string}`;

type Value<T extends MemberType> = T extends 'uint256' | 'uint64'
  ? bigint
  : T extends 'string'
    ? string
    : T extends 'string[]'
      ? readonly string[]
      : `0x${string}`;

/** A message of that type by member names. Numbers are bigint, bytes are 0x hex. */
export type SessionMessage<T extends SessionType> = {
  readonly [M in (typeof sessionTypes)[T][number] as M['name']]: Value<M['type']>;
};

/**
 * The signed digest over domain and message (EIP-712 "hashTypedData"). For AuthorizeSession it is the delegation hash, so that the
 * id of a session depends on service, chain and version, and any wallet library can compute it.
 */
export function sessionDigest<T extends SessionType>(
  domain: SessionDomain,
  type: T,
  message: SessionMessage<T>,
): Uint8Array {
  return typedDataDigest(domain, structs[type], message);
}

export function hashHex(digest: Uint8Array): HexHash {
  return `0x${Buffer.from(digest).toString('hex')}`;
}

const structs = {
  AuthorizeSession: typedStruct('AuthorizeSession', sessionTypes.AuthorizeSession),
  SessionAct: typedStruct('SessionAct', sessionTypes.SessionAct),
  RevokeSession: typedStruct('RevokeSession', sessionTypes.RevokeSession),
} as const satisfies Record<SessionType, unknown>;
