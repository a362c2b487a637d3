import { getAddress } from 'viem';
import { atomicAmount } from '../../schema/amount.ts';
import { limits } from '../../schema/limits.ts';
import { type NetworkName, networkNamed, networks } from '../../schema/network.ts';
import type { PresentedPayment } from '../../subgraphs/context.ts';
import type { Hex } from './base/abi.ts';
import { type Authorization, authorizationDigest } from './base/authorization.ts';
import { type Signature, signatureOf } from './base/signature.ts';
import { type Envelope, type ExactEvmPayload, readEnvelope, type Terms } from './envelope.ts';
import type { PayTo } from './offer.ts';

/** Why a payment is refused, with x402's own word for it where x402 has one. */
const refusals = {
  malformed: 'invalid_payload',
  wrong_scheme: 'unsupported_scheme',
  wrong_network: 'invalid_network',
  wrong_asset: 'invalid_exact_evm_asset_mismatch',
  wrong_payee: 'invalid_exact_evm_recipient_mismatch',
  wrong_amount: 'invalid_exact_evm_payload_authorization_value_mismatch',
  wrong_token_name: 'invalid_exact_evm_token_name_mismatch',
  wrong_token_version: 'invalid_exact_evm_token_version_mismatch',
  not_yet_valid: 'invalid_exact_evm_payload_authorization_valid_after',
  expired: 'invalid_exact_evm_payload_authorization_valid_before',
  too_short: 'invalid_exact_evm_payload_authorization_valid_before',
  too_long: 'invalid_exact_evm_payload_authorization_valid_before',
} as const;
export type RefusalCode = keyof typeof refusals;

export type Late = 'expired' | 'too_short';

/** Right in all that it says. Whether a signature that is no key's is good, the code at the payer's address has to say. */
interface Right {
  readonly authorization: Authorization;
  readonly signature: Signature;
}

export type Verified =
  | ({ readonly kind: 'verified' } & Right)
  /** Right but for its time: it can be settled no more, and yet it may be what bought an answer already. */
  | ({ readonly kind: 'late'; readonly code: Late; readonly reason: string } & Right)
  /** `code` is ours and finer, `reason` is what goes on the wire. */
  | { readonly kind: 'refused'; readonly code: RefusalCode; readonly reason: string };

/** What we offered, and the time by which the payment is judged. */
export interface Offered {
  readonly amount_atomic: bigint;
  readonly networks: readonly NetworkName[];
  readonly pay_to: PayTo;
  /** Less than this, and there is no time for what it would pay for. */
  readonly validity_seconds_min: number;
  readonly now_ms: number;
}

/**
 * Judges a payment by itself: nothing is asked of anybody, so it can come first and refuse at the speed of a hash.
 * What it cannot know (balance, nonce used) the chain is asked for later.
 */
export function verifyPayment(payment: PresentedPayment, offered: Offered): Verified {
  const envelope = readEnvelope(payment.x402_version, payment.envelope);
  if (envelope === null) return refused('malformed');
  const mismatch = compareTerms(envelope, offered);
  if (mismatch) return refused(mismatch);
  if (envelope.payload === null) return refused('wrong_network');
  const fault = compareAuthorization(envelope.payload.authorization, offered) ?? judgeWindow(envelope.payload, offered);
  if (fault && !isLate(fault)) return refused(fault);
  const right = signedBy(authorizationOf(envelope.payload), envelope.payload.signature as Hex);
  return fault ? { kind: 'late', code: fault, reason: refusals[fault], ...right } : { kind: 'verified', ...right };
}

function isLate(code: RefusalCode): code is Late {
  return code === 'expired' || code === 'too_short';
}

function refused(code: RefusalCode): Verified {
  return { kind: 'refused', code, reason: refusals[code] };
}

function same(a: string, b: string | undefined): boolean {
  return b !== undefined && a.toLowerCase() === b.toLowerCase();
}

function compareTerms({ scheme, network: named, accepted }: Envelope, offered: Offered): RefusalCode | null {
  if (scheme !== 'exact') return 'wrong_scheme';
  const network = networkNamed(named);
  if (network === null || !offered.networks.includes(network) || !offered.pay_to[network]) return 'wrong_network';
  return accepted && compareAccepted(accepted, network, offered);
}

function compareAccepted(accepted: Terms, network: NetworkName, offered: Offered): RefusalCode | null {
  if (!same(accepted.asset, networks[network].usdc)) return 'wrong_asset';
  if (!same(accepted.payTo, offered.pay_to[network])) return 'wrong_payee';
  if (accepted.amount !== offered.amount_atomic.toString()) return 'wrong_amount';
  const { name, version } = networks.base.usdc_domain;
  if ((accepted.extra.name ?? name) !== name) return 'wrong_token_name';
  if ((accepted.extra.version ?? version) !== version) return 'wrong_token_version';
  return null;
}

function compareAuthorization(
  { to, value }: ExactEvmPayload['authorization'],
  { pay_to, amount_atomic }: Offered,
): RefusalCode | null {
  if (!same(to, pay_to.base)) return 'wrong_payee';
  return BigInt(value) === amount_atomic ? null : 'wrong_amount';
}

/** EIP-3009: `validAfter < block.timestamp < validBefore`, both ends excluded. */
function judgeWindow(
  { authorization }: ExactEvmPayload,
  { now_ms, validity_seconds_min }: Offered,
): RefusalCode | null {
  const now = BigInt(Math.floor(now_ms / 1_000));
  const before = BigInt(authorization.validBefore);
  if (BigInt(authorization.validAfter) >= now) return 'not_yet_valid';
  if (before <= now) return 'expired';
  if (before < now + BigInt(validity_seconds_min)) return 'too_short';
  if (before > now + BigInt(limits.payment_validity_seconds_max)) return 'too_long';
  return null;
}

function authorizationOf({ authorization: a }: ExactEvmPayload): Authorization {
  return {
    network: 'base',
    payer: getAddress(a.from.toLowerCase()),
    pay_to: getAddress(a.to.toLowerCase()),
    amount_atomic: atomicAmount(BigInt(a.value)),
    valid_after_seconds: Number(a.validAfter),
    valid_before_seconds: Number(a.validBefore),
    nonce: a.nonce.toLowerCase() as Hex,
  };
}

function signedBy(authorization: Authorization, shown: Hex): Right {
  return { authorization, signature: signatureOf(authorization.payer, authorizationDigest(authorization), shown) };
}
