import { sha256Hex } from '../digest.ts';
import type { TypedMember } from '../typed-hash.ts';

/*
 * Typed data that delegated sessions sign (EIP-712), as wallets receive it: published at GET /v1/sessions/types and hashed by the
 * same tables (hash.ts).
 */

const NAME = 'svc.session';
const CHAIN = 8453;

/** The EIP-712 domain of what sessions sign. */
export interface SessionDomain {
  readonly name: typeof NAME;
  readonly version: '1' | '2';
  readonly chainId: typeof CHAIN;
  /** Absent in version 1, which names no service. */
  readonly salt?: `0x${string}`;
}

/** Domain of the service at a base URL. `salt` is the SHA-256 of the URL as UTF-8, spelled exactly as in `iss` of a receipt. */
export function sessionDomain(base_url: string): Required<SessionDomain> {
  return { name: NAME, version: '2', chainId: CHAIN, salt: `0x${sha256Hex(base_url)}` };
}

/**
 * Version 1 was valid at every service. A session bound under it can pay until it expires, and is revoked by either version.
 * Nothing else can be signed under it.
 */
export const firstDomain: SessionDomain = { name: NAME, version: '1', chainId: CHAIN };

export const sessionTypes = {
  /** A grant: signed by the payer, or, of a child, by the agent key of its parent. */
  AuthorizeSession: [
    { name: 'payer', type: 'address' },
    { name: 'agentPubkey', type: 'bytes' },
    { name: 'capAtomic', type: 'uint256' },
    { name: 'validAfter', type: 'uint64' },
    { name: 'sessionExpiry', type: 'uint64' },
    { name: 'parentDelegationHash', type: 'bytes32' },
    { name: 'models', type: 'string[]' },
    { name: 'doors', type: 'string[]' },
    { name: 'salt', type: 'bytes32' },
  ],
  SessionAct: [
    { name: 'delegationHash', type: 'bytes32' },
    { name: 'nonce', type: 'bytes32' },
    { name: 'action', type: 'string' },
    { name: 'resource', type: 'string' },
    { name: 'deadline', type: 'uint64' },
    { name: 'targetAgent', type: 'uint256' },
    { name: 'payloadHash', type: 'bytes32' },
  ],
  /** Signed by the payer of the session or of a session above it. */
  RevokeSession: [
    { name: 'delegationHash', type: 'bytes32' },
    { name: 'at', type: 'uint64' },
  ],
} as const satisfies Record<string, readonly TypedMember[]>;

export type SessionType = keyof typeof sessionTypes;

/** 32 zero bytes: no parent, no payload. */
export const ZERO_HASH = `0x${'0'.repeat(64)}` as const;
