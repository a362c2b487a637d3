import { randomBytes } from 'node:crypto';
import type { Hex } from 'viem';
import type { privateKeyToAccount } from 'viem/accounts';
import { payloadHash } from '../../../schema/session/act.ts';
import { DELEGATION_HEADER } from '../../../schema/session/delegation-header.ts';
import { delegationHash, type Grant, grantMessage } from '../../../schema/session/grant.ts';
import { type SessionDomain, sessionDomain, sessionTypes, ZERO_HASH } from '../../../schema/session/typed-data.ts';
import { audience } from '../signing-audience.ts';

/* Payers and agents of sessions that sign with viem. */

type Account = ReturnType<typeof privateKeyToAccount>;

export const hex32 = (): Hex => `0x${randomBytes(32).toString('hex')}`;
export const nowSeconds = () => Math.floor(Date.now() / 1000);

/** The domain under which sessions are signed by default. */
export const ownDomain = (): SessionDomain => sessionDomain(audience());

/** Typed data for viem. Its type requires a salt, which domains of version 1 do not have. */
const typed = (domain: SessionDomain) => ({ domain: domain as Required<SessionDomain>, types: sessionTypes }) as const;

export function grantOf(payer: Pick<Account, 'address'>, agent: Account, more: Partial<Grant> = {}): Grant {
  return {
    payer: payer.address,
    agentPubkey: agent.publicKey,
    capAtomic: '1000000',
    // The clock of a test's database may be half an hour behind (`mid_hour`, database.ts), and a session must have begun by that clock.
    validAfter: nowSeconds() - 3_600,
    sessionExpiry: nowSeconds() + 3_600,
    parentDelegationHash: ZERO_HASH,
    models: [],
    doors: [],
    salt: hex32(),
    ...more,
  };
}

export function signGrant(signer: Account, grant: Grant, domain = ownDomain()): Promise<Hex> {
  return signer.signTypedData({
    ...typed(domain),
    primaryType: 'AuthorizeSession',
    message: grantMessage(grant) as never,
  });
}

export function headerOf(shown: object): Record<string, string> {
  return { [DELEGATION_HEADER]: Buffer.from(JSON.stringify(shown)).toString('base64url') };
}

export interface DelegatedSession {
  readonly grant: Grant;
  readonly delegation_hash: string;
  readonly agent: Account;
  readonly headers: Record<string, string>;
  readonly signature: Hex;
}

/** A grant with its header. `signer` is the payer, or for a child session the agent of its parent. */
export async function delegate(
  signer: Account,
  payer: Pick<Account, 'address'>,
  agent: Account,
  more: Partial<Grant> = {},
  domain = ownDomain(),
): Promise<DelegatedSession> {
  const grant = grantOf(payer, agent, more);
  const signature = await signGrant(signer, grant, domain);
  const delegation_hash = delegationHash(domain, grant);
  return { grant, signature, agent, delegation_hash, headers: headerOf({ grant, signature }) };
}

export interface ActParts {
  readonly action: string;
  readonly resource: string;
  readonly nonce?: string;
  readonly deadline?: number;
  readonly challenge_id?: string;
  readonly target_agent?: number;
  readonly payload?: { readonly limit: number; readonly before?: string };
}

/** The body of an act with the signature of the session's key. */
export async function signAct(
  { agent, delegation_hash }: Pick<DelegatedSession, 'agent' | 'delegation_hash'>,
  parts: ActParts,
  domain = ownDomain(),
) {
  const { nonce = hex32(), deadline = nowSeconds() + 200, challenge_id, target_agent = 0, payload, ...what } = parts;
  const message = {
    delegationHash: delegation_hash as Hex,
    nonce: nonce as Hex,
    deadline: BigInt(deadline),
    ...what,
    targetAgent: BigInt(target_agent),
    payloadHash: payloadHash(payload ?? null) as Hex,
  };
  const signature = await agent.signTypedData({ ...typed(domain), primaryType: 'SessionAct', message });
  const shown = challenge_id === undefined ? { nonce, deadline } : { challenge_id };
  return { ...what, ...shown, signature, ...(target_agent ? { target_agent } : {}), ...(payload ? { payload } : {}) };
}

export async function signRevocation(payer: Account, delegation_hash: string, at = nowSeconds(), domain = ownDomain()) {
  const message = { delegationHash: delegation_hash as Hex, at: BigInt(at) };
  return { at, signature: await payer.signTypedData({ ...typed(domain), primaryType: 'RevokeSession', message }) };
}
