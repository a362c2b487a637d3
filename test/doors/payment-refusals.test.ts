import { decodePaymentRequiredHeader } from '@x402/core/http';
import { beforeAll, describe, expect, it } from 'vitest';
import { limits } from '../../schema/limits.ts';
import { networks } from '../../schema/network.ts';
import { highS } from '../harness/base/wallet.ts';
import { handMadePayment, nowSeconds } from '../harness/buyer.ts';
import {
  encodeBase64,
  makePayment,
  type PaymentChange,
  paymentHeaders,
  type SignedPayment,
} from '../harness/doors/make-payment.ts';
import { ask, CHAT, type ChallengeBody, type Service, sharedService } from '../harness/doors/open-service.ts';

let service: Service;
beforeAll(async () => {
  service = await sharedService();
});

const STRANGER = `0x${'22'.repeat(20)}` as const;
const word = {
  scheme: 'unsupported_scheme',
  network: 'invalid_network',
  asset: 'invalid_exact_evm_asset_mismatch',
  payee: 'invalid_exact_evm_recipient_mismatch',
  amount: 'invalid_exact_evm_payload_authorization_value_mismatch',
  after: 'invalid_exact_evm_payload_authorization_valid_after',
  before: 'invalid_exact_evm_payload_authorization_valid_before',
  signature: 'invalid_exact_evm_payload_signature',
  name: 'invalid_exact_evm_token_name_mismatch',
  version: 'invalid_exact_evm_token_version_mismatch',
} as const;

/** Payload of a payment on Solana. */
const svm = { payload: { transaction: 'AAAA' } };
const seconds = (away: number) => BigInt(nowSeconds() + away);

/** Expects that the payment is refused, that nothing was claimed or moved, and that another payment of the same wallet succeeds. */
async function refusedThenPaid(change: () => PaymentChange) {
  const payer = await service.chain.newWallet();
  const { headers } = await makePayment(service, payer, change());
  const refused = await service.post<ChallengeBody & { readonly code?: string }>(CHAT, ask(), headers);
  expect(await service.claimsOf(payer)).toEqual([]);
  expect((await service.post(CHAT, ask(), (await makePayment(service, payer)).headers)).status).toBe(200);
  expect(await service.transfersFrom(payer)).toHaveLength(1);
  return refused;
}

describe('POST /v1/chat/completions 402, with a word of x402, on a payment', () => {
  it.each<[string, string, () => PaymentChange]>([
    ['of too little', word.amount, () => ({ signed: { value: 1999n } })],
    ['of too much', word.amount, () => ({ signed: { value: 2001n } })],
    ['of nothing', word.amount, () => ({ signed: { value: 0n } })],
    ['of more than there is', word.amount, () => ({ signed: { value: 2n ** 256n - 1n } })],
    ['to another payee', word.payee, () => ({ signed: { to: STRANGER } })],
    ['that is not valid yet', word.after, () => ({ signed: { validAfter: seconds(60) } })],
    ['that is never valid', word.after, () => ({ signed: { validAfter: 2n ** 256n - 1n } })],
    ['that has expired', word.before, () => ({ signed: { validBefore: seconds(-1) } })],
    ['that ends too soon to be mined', word.before, () => ({ signed: { validBefore: seconds(2) } })],
    ['that never ends', word.before, () => ({ signed: { validBefore: 2n ** 256n - 1n } })],
    [
      'that ends in two months',
      word.before,
      () => ({ signed: { validBefore: seconds(2 * limits.payment_validity_seconds_max) } }),
    ],
    ['from another wallet than signed', word.signature, () => ({ sent: { from: STRANGER } })],
    ['from the zero address', word.signature, () => ({ sent: { from: `0x${'0'.repeat(40)}` } })],
    ['whose nonce was changed', word.signature, () => ({ sent: { nonce: `0x${'ab'.repeat(32)}` } })],
    ['whose time was changed', word.signature, () => ({ sent: { validBefore: seconds(90).toString() } })],
    ['with high s', word.signature, () => ({ signature: highS })],
    ['with v out of range', word.signature, () => ({ signature: it => `${it.slice(0, 130)}1d` })],
    ['with v of the other parity', word.signature, () => ({ signature: flipped })],
    ['with a signature of zeros', word.signature, () => ({ signature: () => `0x${'00'.repeat(65)}` })],
    ['with a signature of ones', word.signature, () => ({ signature: () => `0x${'ff'.repeat(65)}` })],
    ['with a signature of 64 bytes', word.signature, () => ({ signature: it => it.slice(0, 130) })],
    ['with a signature of 66 bytes', word.signature, () => ({ signature: it => `${it}00` })],
    ['with a signature of one byte', word.signature, () => ({ signature: () => '0x00' })],
  ])('%s, by v1 and by v2', async (_, error, change) => {
    for (const version of [1, 2] as const) {
      const refused = await refusedThenPaid(() => ({ ...change(), version }));
      expect(refused).toMatchObject({ status: 402, body: { x402Version: 1, error } });
      expect(decodePaymentRequiredHeader(refused.headers.get('PAYMENT-REQUIRED') ?? '').error).toBe(error);
    }
  });

  it.each<[string, string, PaymentChange]>([
    ['of another scheme', word.scheme, { version: 1, envelope: { scheme: 'upto' } }],
    ['of another scheme', word.scheme, { accepted: { scheme: 'upto' } }],
    ['on a test network', word.network, { version: 1, envelope: { network: 'base-sepolia' } }],
    ['on a test network', word.network, { accepted: { network: 'eip155:84532' } }],
    ['on a network that is none', word.network, { accepted: { network: '__proto__' } }],
    ['on a network that is not offered', word.network, { accepted: { network: networks.solana.caip2 }, ...svm }],
    ['on a network that is not offered', word.network, { version: 1, envelope: { network: 'solana' }, ...svm }],
    ['in another asset', word.asset, { accepted: { asset: STRANGER } }],
    ['that accepts another payee', word.payee, { accepted: { payTo: STRANGER } }],
    ['that accepts another amount', word.amount, { accepted: { amount: '1' } }],
    ['in a token of another name', word.name, { accepted: { extra: { name: 'USDC', version: '2' } } }],
    ['in a token of another version', word.version, { accepted: { extra: { name: 'USD Coin', version: '1' } } }],
  ])('%s (%s)', async (_, error, change) => {
    const refused = await refusedThenPaid(() => change);
    expect(refused).toMatchObject({ status: 402, body: { error } });
  });

  it('signed for another token', async () => {
    const payer = await service.chain.newWallet();
    const headers = await handMadePayment(payer, { ...(await service.offer(CHAT)), asset: STRANGER });
    expect(await service.post<ChallengeBody>(CHAT, ask(), headers)).toMatchObject({
      status: 402,
      body: { error: word.signature },
    });
    expect(await service.claimsOf(payer)).toEqual([]);
  });
});

function flipped(signature: string): string {
  return `${signature.slice(0, 130)}${signature.endsWith('1b') ? '1c' : '1b'}`;
}

describe('POST /v1/chat/completions 400 invalid_payment, on a payment', () => {
  it.each<[string, PaymentChange]>([
    ['that says version 1 under the name of version 2', { envelope: { x402Version: 1 } }],
    ['that says version 2 under the name of version 1', { version: 1, envelope: { x402Version: 2 } }],
    ['of version 3', { envelope: { x402Version: 3 } }],
    ['of version "2"', { envelope: { x402Version: '2' } }],
    ['without a payload', { envelope: { payload: null } }],
    ['without an offer that it accepts', { envelope: { accepted: null } }],
    ['without a nonce', { sent: { nonce: '' } }],
    ['whose nonce is too short', { sent: { nonce: '0xab' } }],
    ['from what is no address', { sent: { from: '0x12' } }],
    ['from an address with 0X before it', { sent: { from: `0X${'22'.repeat(20)}` } }],
    ['of a negative amount', { sent: { value: '-2000' } }],
    ['of an amount with a fraction', { sent: { value: '2000.0' } }],
    ['of an amount in hex', { sent: { value: '0x7d0' } }],
    ['of an amount that is a list', { sent: { value: ['2000'] } }],
    ['that ends at no time', { sent: { validBefore: 'never' } }],
    ['whose signature is no hex', { signature: () => `0x${'zz'.repeat(65)}` }],
    ['without a signature', { signature: () => '' }],
    ['whose signature is half a byte', { signature: () => '0xabc' }],
    ['with a signature of 7,000 bytes', { signature: () => `0x${'ab'.repeat(7_000)}` }],
  ])('%s', async (_, change) => {
    expect(await refusedThenPaid(() => change)).toMatchObject({ status: 400, body: { code: 'invalid_payment' } });
  });

  const size = limits.payment_header_bytes_max;
  it.each<[string, (made: SignedPayment) => string]>([
    ['is no base64', () => '{"x402Version":2}'],
    ['is base64url', () => 'eyJ4-_'],
    ['is base64 of no JSON', () => encodeBase64('not JSON')],
    ['is base64 of a list', () => encodeBase64([])],
    ['is base64 of null', () => encodeBase64(null)],
    ['is base64 of a number', () => encodeBase64(2)],
    ['is base64 of bytes that are no text', () => Buffer.from([0xff, 0xfe, 0x00]).toString('base64')],
    ['is base64 of JSON that is nested 4,000 deep', () => encodeBase64('['.repeat(4_000) + ']'.repeat(4_000))],
    ['is longer than 16 KiB', () => encodeBase64(' '.repeat(size))],
    ['is 40,000 characters long', () => 'A'.repeat(40_000)],
  ])('whose header %s', async (_, header) => {
    const payer = await service.chain.newWallet();
    const made = await makePayment(service, payer);
    for (const version of [1, 2] as const) {
      const refused = await service.post(CHAT, ask(), paymentHeaders(version, header(made)));
      expect(refused).toMatchObject({ status: 400, body: { code: 'invalid_payment' } });
    }
    expect((await service.post(CHAT, ask(), made.headers)).status).toBe(200);
  });

  it('that is sent twice in one request', async () => {
    const payer = await service.chain.newWallet();
    const { headers } = await makePayment(service, payer);
    const twice = { 'PAYMENT-SIGNATURE': `${headers['PAYMENT-SIGNATURE']}, ${headers['PAYMENT-SIGNATURE']}` };
    expect(await service.post(CHAT, ask(), twice)).toMatchObject({ status: 400, body: { code: 'invalid_payment' } });
    expect((await service.post(CHAT, ask(), headers)).status).toBe(200);
    expect(await service.transfersFrom(payer)).toHaveLength(1);
  });
});

describe('POST /v1/chat/completions 200 on a payment', () => {
  it.each<[string, (address: string) => string]>([
    ['in small letters', address => address.toLowerCase()],
    ['in capitals', address => `0x${address.slice(2).toUpperCase()}`],
    ['in mixed letters that are no checksum', address => `0x${swapped(address.slice(2))}`],
  ])('whose addresses are %s: the same money, claimed once', async (_, spelt) => {
    const payer = await service.chain.newWallet();
    const made = await makePayment(service, payer);
    const { from, to, nonce } = made.message;
    const sent = { from: spelt(from), to: spelt(to), nonce: `0x${nonce.slice(2).toUpperCase()}` };
    const accepted = { asset: spelt(networks.base.usdc), payTo: spelt(to) };
    const other = await makePayment(service, payer, { signed: made.message, sent, accepted });
    const first = await service.post(CHAT, ask('Spelt'), other.headers);
    const again = await service.post(CHAT, ask('Spelt'), made.headers);
    expect([first.status, again.status]).toEqual([200, 200]);
    expect(again.headers.get('x-svc-settlement-status')).toBe('idempotent_replay');
    expect(again.headers.get('PAYMENT-RESPONSE')).toBe(first.headers.get('PAYMENT-RESPONSE'));
    expect(await service.claimsOf(payer)).toEqual([{ state: 'recorded', reason: null }]);
    expect(await service.transfersFrom(payer)).toHaveLength(1);
  });

  it('with members that nobody reads, and with small numbers as numbers', async () => {
    const payer = await service.chain.newWallet();
    const { headers } = await makePayment(service, payer, {
      envelope: { resource: { url: 'http://elsewhere' }, extensions: { a: {} }, memo: 'x' },
      accepted: { extra: null, outputSchema: {} },
      payload: { surplus: true },
      sent: { value: 2000, validAfter: 0, extra: [] },
    });
    expect((await service.post(CHAT, ask(), headers)).status).toBe(200);
    expect(await service.transfersFrom(payer)).toHaveLength(1);
  });

  it('with v as 0 or 1', async () => {
    const payer = await service.chain.newWallet();
    const { headers } = await makePayment(service, payer, {
      signature: it => `${it.slice(0, 130)}${it.endsWith('1b') ? '00' : '01'}`,
    });
    expect((await service.post(CHAT, ask(), headers)).status).toBe(200);
  });

  it('in both headers at once: that of version 2 pays, the other stays usable', async () => {
    const payer = await service.chain.newWallet();
    const [two, one] = [await makePayment(service, payer), await makePayment(service, payer, { version: 1 })];
    expect((await service.post(CHAT, ask('Both'), { ...one.headers, ...two.headers })).status).toBe(200);
    expect(await service.transfersFrom(payer)).toHaveLength(1);
    expect((await service.post(CHAT, ask('Other'), one.headers)).status).toBe(200);
    expect(await service.transfersFrom(payer)).toHaveLength(2);
  });
});

function swapped(digits: string): string {
  return [...digits].map(digit => (digit === digit.toLowerCase() ? digit.toUpperCase() : digit.toLowerCase())).join('');
}
