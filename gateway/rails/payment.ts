import { parseAtomic } from '../../schema/amount.ts';
import type { JsonObject } from '../../schema/canonical-json.ts';
import type { NetworkName } from '../../schema/network.ts';
import { type BaseAuthorization, baseClaimKey } from './base/authorization.ts';
import { type BaseSignature, signatureFromJson, signatureToJson } from './base/signature.ts';
import {
  type PartialSignature,
  type SolanaAuthorization,
  type SolanaPayment,
  solanaClaimKey,
} from './solana/authorization.ts';

export interface BasePayment {
  readonly authorization: BaseAuthorization;
  readonly signature: BaseSignature;
}

/** A payer's authorization of a payment on one of the networks, with its signature. */
export type Payment = BasePayment | SolanaPayment;
export type Authorization = Payment['authorization'];
export type Signature = Payment['signature'];

/**
 * Whether the signature alone proves the payer, as a key's signature and a signed transaction do. Otherwise only code on the chain
 * can prove it.
 */
export function provesItsPayer({ signature }: Pick<Payment, 'signature'>): boolean {
  return signature.kind !== 'contract';
}

/** Key that identifies the payment independently of spelling, so that no payment is claimed twice. */
export function claimKey(authorization: Authorization): string {
  return authorization.network === 'base' ? baseClaimKey(authorization) : solanaClaimKey(authorization);
}

/** Id of the payment on its network: EIP-3009's nonce, or the hash of a message on Solana. */
export function paymentId(authorization: Authorization): string {
  return authorization.network === 'base' ? authorization.nonce : authorization.message_hash;
}

/** The authorization as JSON for the claim's row, with the amount as a string. */
export function authorizationToJson(authorization: Authorization): JsonObject {
  return { ...authorization, amount_atomic: authorization.amount_atomic.toString() };
}

export function paymentToJson({ authorization, signature }: Payment): JsonObject {
  const shown = signature.kind === 'partial' ? { ...signature } : signatureToJson(signature);
  return { ...authorizationToJson(authorization), signature: shown };
}

const signatures: Record<NetworkName, (stored: JsonObject) => Signature> = {
  base: signatureFromJson,
  solana: stored => stored as unknown as PartialSignature,
};

/** Reads JSON that `paymentToJson` wrote. @throws if the row has other members */
export function paymentFromJson({ signature, ...stored }: JsonObject): Payment {
  const amount_atomic = parseAtomic(String(stored.amount_atomic));
  const network = stored.network as NetworkName;
  if (amount_atomic === null || !(network in signatures)) throw new TypeError('not a stored payment');
  const authorization = { ...(stored as unknown as SolanaAuthorization | BaseAuthorization), amount_atomic };
  return { authorization, signature: signatures[network](signature as JsonObject) } as Payment;
}
