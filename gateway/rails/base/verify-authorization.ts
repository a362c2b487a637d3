import { LRUCache } from 'lru-cache';
import { atomicAmount } from '../../../schema/amount.ts';
import { checksummedAddress } from '../../../schema/eip55.ts';
import { limits } from '../../../schema/limits.ts';
import { networks } from '../../../schema/network.ts';
import type { AcceptedTerms, ExactEvmPayload } from '../../x402/envelope.ts';
import type { BasePayment } from '../payment.ts';
import {
  type OfferedTerms,
  type PaymentJudge,
  paysAnother,
  type TermsCode,
  type TermsMismatch,
  termsRefusal,
  type Verified,
} from '../verify.ts';
import type { Hex } from './abi.ts';
import { authorizationDigest, type BaseAuthorization } from './authorization.ts';
import { signatureOf } from './signature.ts';

/*
 * Checks an EIP-3009 authorization by its content alone, without a request to the chain: shape, payee, amount, time and key
 * signature.
 */

/** x402 codes for faults of an authorization's validity period. */
const windows = {
  not_yet_valid: 'invalid_exact_evm_payload_authorization_valid_after',
  expired: 'invalid_exact_evm_payload_authorization_valid_before',
  too_short: 'invalid_exact_evm_payload_authorization_valid_before',
  too_long: 'invalid_exact_evm_payload_authorization_valid_before',
} as const;
type WindowCode = keyof typeof windows;

const PAYEES_MAX = 16;

/** Checks a payment on Base by its content alone, without a request to the chain. */
export const baseJudge: PaymentJudge<BasePayment> = {
  isSame: same,
  compareExtra,
  verify: async (payload, offered) => verifyAuthorization(payload as ExactEvmPayload, offered),
};

function verifyAuthorization(payload: ExactEvmPayload, offered: OfferedTerms): Verified<BasePayment> {
  const mismatch = compareAuthorization(payload.authorization, offered);
  if (mismatch === 'wrong_payee') return paysAnother('base', signedPayment(payload));
  if (mismatch) return termsRefusal('base', mismatch);
  const fault = judgeWindow(payload, offered);
  if (fault && !isLate(fault)) return { kind: 'refused', code: fault, reason: windows[fault] };
  const right = signedPayment(payload);
  return fault ? { kind: 'late', code: fault, reason: windows[fault], ...right } : { kind: 'verified', ...right };
}

function compareExtra(extra: AcceptedTerms['extra']): TermsCode | null {
  const { name, version } = networks.base.usdc_domain;
  if ((extra.name ?? name) !== name) return 'wrong_token_name';
  return (extra.version ?? version) === version ? null : 'wrong_token_version';
}

function same(a: string, b: string | undefined): boolean {
  return b !== undefined && a.toLowerCase() === b.toLowerCase();
}

function isLate(code: WindowCode): code is WindowCode & TermsMismatch {
  return code === 'expired' || code === 'too_short';
}

function compareAuthorization(
  { to, value }: ExactEvmPayload['authorization'],
  { pay_to, amount_atomic }: OfferedTerms,
): TermsCode | null {
  if (!same(to, pay_to.base)) return 'wrong_payee';
  return BigInt(value) === amount_atomic ? null : 'wrong_amount';
}

/** Checks the validity period. EIP-3009: `validAfter < block.timestamp < validBefore`, both ends excluded. */
function judgeWindow(
  { authorization }: ExactEvmPayload,
  { now_ms, validity_seconds_min, validity_seconds_max = limits.payment_validity_seconds_max }: OfferedTerms,
): WindowCode | null {
  const now = BigInt(Math.floor(now_ms / 1_000));
  const before = BigInt(authorization.validBefore);
  if (BigInt(authorization.validAfter) >= now) return 'not_yet_valid';
  if (before <= now) return 'expired';
  if (before < now + BigInt(validity_seconds_min)) return 'too_short';
  if (before > now + BigInt(validity_seconds_max)) return 'too_long';
  return null;
}

/** Nearly all payments have the same payee. Its checksum spelling needs a hash, so it is cached. */
const payees = new LRUCache<string, Hex>({ max: PAYEES_MAX });

function payeeOf({ to }: ExactEvmPayload['authorization']): Hex {
  const known = payees.get(to);
  if (known) return known;
  const payee = checksummedAddress(to);
  payees.set(to, payee);
  return payee;
}

function authorizationOf({ authorization: a }: ExactEvmPayload): BaseAuthorization {
  return {
    network: 'base',
    payer: checksummedAddress(a.from),
    pay_to: payeeOf(a),
    amount_atomic: atomicAmount(BigInt(a.value)),
    valid_after_seconds: Number(a.validAfter),
    valid_before_seconds: Number(a.validBefore),
    nonce: a.nonce.toLowerCase() as Hex,
  };
}

/**
 * Caches the result of a signature's check. The gate checks a payment first and the charge checks it again with its own clock; only
 * the signature's result cannot change between the two.
 */
const signed = new WeakMap<ExactEvmPayload, BasePayment>();

function signedPayment(payload: ExactEvmPayload): BasePayment {
  const known = signed.get(payload);
  if (known) return known;
  const authorization = authorizationOf(payload);
  const shown = payload.signature as Hex;
  const signature = signatureOf(authorization.payer, authorizationDigest(authorization), shown);
  const payment = { authorization, signature };
  signed.set(payload, payment);
  return payment;
}
