import fc from 'fast-check';
import { hashTypedData } from 'viem';
import { describe, expect, it } from 'vitest';
import { hex } from '../../../../gateway/rails/base/abi.ts';
import { authorizationDigest, baseClaimKey } from '../../../../gateway/rails/base/authorization.ts';
import { baseJudge } from '../../../../gateway/rails/base/verify-authorization.ts';
import { type BasePayment, paymentFromJson, paymentToJson } from '../../../../gateway/rails/payment.ts';
import { type OfferedTerms, type Verified, verifyPayment } from '../../../../gateway/rails/verify.ts';
import { decodePayment } from '../../../../gateway/x402/payment-header.ts';
import { atomicAmount } from '../../../../schema/amount.ts';
import { limits } from '../../../../schema/limits.ts';
import { networks } from '../../../../schema/network.ts';
import type { PresentedPayment } from '../../../../subgraphs/context.ts';
import {
  highS,
  newAccount,
  officialHeader,
  PAY_TO,
  price,
  signTransfer,
  type TransferMessage,
  typedData,
} from '../../../harness/base/wallet.ts';

const now_ms = 1_800_000_000_000;
const now = BigInt(now_ms / 1000);
const offered = {
  amount_atomic: 2000n,
  networks: ['base'] as const,
  pay_to: { base: PAY_TO },
  validity_seconds_min: limits.payment_validity_seconds_min,
  now_ms,
};
const account = newAccount();

const message = (changed: Partial<TransferMessage> = {}): TransferMessage => ({
  from: account.address,
  to: PAY_TO,
  value: 2000n,
  validAfter: 0n,
  validBefore: now + 60n,
  nonce: `0x${'5a'.repeat(32)}`,
  ...changed,
});

function presented(version: 1 | 2, m: TransferMessage, signature: string, accepted: object = {}): PresentedPayment {
  const { from, to, nonce } = m;
  const numbers = { value: `${m.value}`, validAfter: `${m.validAfter}`, validBefore: `${m.validBefore}` };
  const payload = { signature, authorization: { from, to, nonce, ...numbers } };
  const terms = { scheme: 'exact', network: networks.base.caip2, amount: '2000', asset: networks.base.usdc };
  const v2 = { ...terms, payTo: PAY_TO, maxTimeoutSeconds: 300, extra: networks.base.usdc_domain, ...accepted };
  const envelope =
    version === 2
      ? { x402Version: 2, accepted: v2, payload }
      : { x402Version: 1, scheme: 'exact', network: 'base', payload };
  const decoded = decodePayment(version, Buffer.from(JSON.stringify(envelope)).toString('base64'));
  if (decoded.kind !== 'decoded') throw new Error('the payment under test has no x402 shape');
  return decoded.payment;
}

/** On Base alone. */
const verify = (payment: PresentedPayment, terms: OfferedTerms) =>
  verifyPayment(payment, terms, { base: baseJudge }) as Promise<Verified<BasePayment>>;

async function judged(changed: Partial<TransferMessage>, accepted: object = {}): Promise<Verified<BasePayment>> {
  const m = message(changed);
  return verify(presented(2, m, await signTransfer(account, m), accepted), offered);
}

/** A key's own signature, or one that is left to the code at the payer's address. */
const outcome = (verified: Verified<BasePayment>): string =>
  'code' in verified ? verified.code : `${verified.kind}: ${verified.signature.kind}`;

describe('a payment by the official client', () => {
  it.each([1, 2] as const)('is verified when it speaks x402 v%i', async version => {
    const decoded = decodePayment(version, await officialHeader(version, account));
    expect(decoded.kind).toBe('decoded');
    if (decoded.kind !== 'decoded') return;
    const verified = await verify(decoded.payment, { ...offered, now_ms: Date.now() });
    expect(verified).toMatchObject({
      kind: 'verified',
      authorization: { payer: account.address },
      signature: { kind: 'ecdsa' },
    });
    if (verified.kind !== 'verified') return;
    expect(verified.authorization.amount_atomic).toBe(price.amount_atomic);
    expect(baseClaimKey(verified.authorization)).toBe(
      `eip155:8453/${networks.base.usdc}/${account.address}/${verified.authorization.nonce}`.toLowerCase(),
    );
  });
});

describe('a payment to another payee', () => {
  const other = newAccount().address;

  it('is late whatever its time is, and refused where another is named than it was signed for', async () => {
    for (const changed of [{}, { validBefore: now - 1n }, { validAfter: now + 1n }])
      expect(await judged({ to: other, ...changed }, { payTo: other })).toMatchObject({
        kind: 'late',
        code: 'wrong_payee',
        reason: 'invalid_exact_evm_recipient_mismatch',
      });
    expect(await judged({}, { payTo: other })).toMatchObject({ kind: 'refused', code: 'wrong_payee' });
  });
});

describe('the digest', () => {
  it('equals that of a general EIP-712 encoder for any authorization', () => {
    const address = fc.uint8Array({ minLength: 20, maxLength: 20 }).map(hex);
    const seconds = fc.nat(2 ** 31 - 1);
    fc.assert(
      fc.property(
        address,
        address,
        fc.bigInt(0n, 2n ** 77n),
        seconds,
        seconds,
        fc.uint8Array({ minLength: 32, maxLength: 32 }),
        (payer, pay_to, value, after, before, nonce) => {
          const ours = authorizationDigest({
            network: 'base',
            payer,
            pay_to,
            amount_atomic: atomicAmount(value),
            valid_after_seconds: after,
            valid_before_seconds: before,
            nonce: hex(nonce),
          });
          const m = {
            from: payer,
            to: pay_to,
            value,
            validAfter: BigInt(after),
            validBefore: BigInt(before),
            nonce: hex(nonce),
          };
          expect(hex(ours)).toBe(hashTypedData({ ...typedData, message: m }));
        },
      ),
      { numRuns: 50 },
    );
  });
});

describe('a payment that differs from the offer', () => {
  const other = newAccount().address;
  it.each([
    ['wrong_amount', { value: 1999n }, {}],
    ['wrong_amount', { value: 2001n }, {}],
    ['wrong_amount', {}, { amount: '1999' }],
    ['wrong_payee', { to: other }, {}],
    ['wrong_payee', {}, { payTo: other }],
    ['wrong_asset', {}, { asset: other }],
    ['wrong_scheme', {}, { scheme: 'upto' }],
    ['wrong_network', {}, { network: 'eip155:84532' }],
    ['wrong_network', {}, { network: 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1' }],
    ['wrong_token_name', {}, { extra: { name: 'USDC', version: '2' } }],
    ['wrong_token_version', {}, { extra: { name: 'USD Coin', version: '1' } }],
    ['expired', { validBefore: now }, {}],
    ['too_short', { validBefore: now + BigInt(limits.payment_validity_seconds_min) - 1n }, {}],
    ['too_long', { validBefore: 2n ** 256n - 1n }, {}],
    ['not_yet_valid', { validAfter: now }, {}],
    ['not_yet_valid', { validAfter: now + 5n }, {}],
  ] as const)('is refused as %s (%o %o)', async (code, changed, accepted) => {
    expect(outcome(await judged(changed, accepted))).toBe(code);
  });

  it('on a network without a payee is refused as wrong_network', async () => {
    const m = message();
    const payment = presented(1, m, await signTransfer(account, m));
    expect(outcome(await verify(payment, { ...offered, pay_to: {} }))).toBe('wrong_network');
  });

  it("is not signed by the payer's key whichever signed member is changed, by either version", async () => {
    const signature = await signTransfer(account, message());
    const nonce = fc.uint8Array({ minLength: 32, maxLength: 32 }).map(value => ({ nonce: hex(value) }));
    const from = fc.uint8Array({ minLength: 20, maxLength: 20 }).map(value => ({ from: hex(value) }));
    const validAfter = fc.integer({ min: 1, max: Number(now) - 1 }).map(value => ({ validAfter: BigInt(value) }));
    const validBefore = fc.integer({ min: 61, max: 9_999 }).map(value => ({ validBefore: now + BigInt(value) }));
    const changes = fc.oneof(nonce, from, validAfter, validBefore);
    await fc.assert(
      fc.asyncProperty(fc.constantFrom<1 | 2>(1, 2), changes, async (version, changed) => {
        const payment = presented(version, message(changed), signature);
        expect(outcome(await verify(payment, offered))).toBe('verified: contract');
      }),
    );
  });
});

describe('a signature', () => {
  it("of the payer's key passes with v as 0/1 and as 27/28, in any case of its digits", async () => {
    const signature = await signTransfer(account, message());
    const parity = Number.parseInt(signature.slice(130), 16) - 27;
    for (const form of [signature, `${signature.slice(0, 130)}0${parity}`, `0x${signature.slice(2).toUpperCase()}`])
      expect(outcome(await verify(presented(2, message(), form), offered))).toBe('verified: ecdsa');
  });

  it.each([
    ['with the high s of the same point', (it: string) => highS(it)],
    ['with an unknown v', (it: string) => `${it.slice(0, 130)}1d`],
    ['that recovers to nobody', () => `0x${'00'.repeat(64)}1b`],
    ['of 64 bytes', (it: string) => it.slice(0, 130)],
    ['of 66 bytes', (it: string) => `${it}00`],
    ['of one byte', () => '0x00'],
  ])("%s is no key's, and left to code", async (_, change) => {
    const shown = change(await signTransfer(account, message()));
    const verified = await verify(presented(2, message(), shown), offered);
    expect(verified).toMatchObject({ kind: 'verified', signature: { kind: 'contract', bytes: shown, deploy: null } });
  });

  it('of a payment out of time is kept with it: it may have bought an answer', async () => {
    const m = message({ validBefore: now });
    const late = await verify(presented(2, m, `${await signTransfer(account, m)}00`), offered);
    expect(late).toMatchObject({ kind: 'late', code: 'expired', signature: { kind: 'contract' } });
  });
});

describe('an authorization on the claim', () => {
  it('comes back as it was stored', async () => {
    const verified = await judged({});
    if (verified.kind !== 'verified') throw new Error(outcome(verified));
    const { authorization, signature } = verified;
    const stored = JSON.parse(JSON.stringify(paymentToJson(verified)));
    expect(paymentFromJson(stored)).toEqual({ authorization, signature });
  });
});
