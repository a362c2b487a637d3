/*
 * What delegated sessions sign (EIP-712), as wallets are handed it: published at GET /v1/sessions/types, and hashed by the
 * same tables (hash.ts).
 */

/** EIP-712 member types that these messages use: each of one word, but for the last three, which are hashed first. */
export type MemberType = 'address' | 'uint256' | 'uint64' | 'bytes32' | 'bytes' | 'string' | 'string[]';

export interface TypedMember {
  readonly name: string;
  readonly type: MemberType;
}

export const sessionDomain = { name: 'svc.session', version: '1', chainId: 8453 } as const;

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
  /** Signed by the payer of the session, or of one that stands over it. */
  RevokeSession: [
    { name: 'delegationHash', type: 'bytes32' },
    { name: 'at', type: 'uint64' },
  ],
} as const satisfies Record<string, readonly TypedMember[]>;

export type SessionType = keyof typeof sessionTypes;

/** 32 bytes of nothing: no parent, no payload. */
export const ZERO_HASH = `0x${'0'.repeat(64)}` as const;
