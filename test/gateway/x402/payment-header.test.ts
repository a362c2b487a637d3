import { decodePaymentRequiredHeader, decodePaymentResponseHeader } from '@x402/core/http';
import { PaymentRequiredV1Schema, PaymentRequiredV2Schema } from '@x402/core/schemas';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openChallenges } from '../../../gateway/x402/offer.ts';
import { decodePayment, settlementHeaders } from '../../../gateway/x402/payment-header.ts';
import { limits } from '../../../schema/limits.ts';
import { networks } from '../../../schema/network.ts';
import { newAccount, officialPayment, PAY_TO, price } from '../../harness/base/wallet.ts';

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64');

describe('the payment header', () => {
  const account = newAccount();

  it.each([1, 2] as const)(
    'of the official client in v%i is decoded, without members that nobody reads',
    async version => {
      const payment = await officialPayment(version, account);
      const decoded = decodePayment(version, encode({ ...payment, surplus: 'x' }));
      expect(decoded).toMatchObject({ kind: 'decoded', payment: { x402_version: version } });
      expect(JSON.stringify(decoded)).not.toContain('surplus');
      // Decoding is stable: what was kept decodes to itself, also after a journey as JSON.
      if (decoded.kind === 'decoded') expect(decodePayment(version, encode(decoded.payment.envelope))).toEqual(decoded);
    },
  );

  it('is malformed where v1 comes under the name of v2, or the other way round', async () => {
    expect(decodePayment(2, encode(await officialPayment(1, account))).kind).toBe('malformed');
    expect(decodePayment(1, encode(await officialPayment(2, account))).kind).toBe('malformed');
  });

  it('is malformed beyond the size limit, as no base64, as no JSON and in no x402 shape', () => {
    const headers = [
      '',
      '!!!!',
      'bm90IGpzb24=',
      encode(null),
      encode([]),
      encode({ x402Version: 2 }),
      'A'.repeat(limits.payment_header_bytes_max + 1),
    ];
    for (const header of headers) expect(decodePayment(2, header)).toMatchObject({ kind: 'malformed' });
  });

  it('is base64 by its alphabet, padded or not: what Node would skip makes it malformed', async () => {
    const header = encode({ ...(await officialPayment(2, account)), surplus: 'x' });
    const bare = header.replace(/=+$/, '');
    for (const whole of [bare, `${bare}=`, `${bare}==`])
      expect(decodePayment(2, whole)).toEqual(decodePayment(2, header));
    for (const skipped of ['-', '_', ' ', '\n', '=', '!']) {
      const within = `${header.slice(0, 40)}${skipped}${header.slice(40)}`;
      expect(decodePayment(2, within), JSON.stringify(skipped)).toMatchObject({ kind: 'malformed' });
    }
    expect(decodePayment(2, header).kind).toBe('decoded');
  });

  it('is malformed with a name that has no canonical form, since what is kept of it is signed and sent on', async () => {
    const payment = await officialPayment(2, account);
    for (const named of ['network', 'asset', 'payTo', 'scheme']) {
      const accepted = { ...payment.accepted, [named]: '\ud800' };
      expect(decodePayment(2, encode({ ...payment, accepted })).kind).toBe('malformed');
    }
    const accepted = { ...payment.accepted, extra: { name: '\udfff', version: '2' } };
    expect(decodePayment(2, encode({ ...payment, accepted })).kind).toBe('malformed');
  });

  it('never throws, whatever comes', () => {
    const anything = fc.oneof(fc.string(), fc.base64String(), fc.jsonValue().map(encode));
    fc.assert(
      fc.property(anything, fc.constantFrom<1 | 2>(1, 2), (header, version) => {
        expect(['decoded', 'malformed']).toContain(decodePayment(version, header).kind);
      }),
    );
  });

  it('is malformed with any member of the authorization missing or of another type', async () => {
    const payment = structuredClone(await officialPayment(2, account));
    const authorization = payment.payload.authorization as Record<string, unknown>;
    for (const [name, kept] of Object.entries(authorization)) {
      for (const wrong of [undefined, null, {}, -1, '0x', 'x', [kept]]) {
        authorization[name] = wrong;
        expect(decodePayment(2, encode(payment)).kind, `${name} = ${JSON.stringify(wrong)}`).toBe('malformed');
      }
      authorization[name] = kept;
    }
  });
});

describe('the 402', () => {
  it('is in both official shapes, and both name the same offer', () => {
    const { headers, body } = openChallenges({ base: PAY_TO })(price, null);
    const v2 = PaymentRequiredV2Schema.parse(decodePaymentRequiredHeader(headers['PAYMENT-REQUIRED'] ?? ''));
    const v1 = PaymentRequiredV1Schema.parse(body);
    expect(v2.resource.url).toBe(price.resource);
    expect(v2.accepts).toEqual([
      {
        scheme: 'exact',
        network: 'eip155:8453',
        amount: '2000',
        asset: networks.base.usdc,
        payTo: PAY_TO,
        maxTimeoutSeconds: limits.payment_timeout_seconds_max,
        extra: { name: 'USD Coin', version: '2' },
      },
    ]);
    expect(v1.accepts[0]).toMatchObject({ network: 'base', maxAmountRequired: '2000', payTo: PAY_TO });
  });

  it('says why in both, and offers no network without a payee', () => {
    const reason = { code: 'payment_rejected', detail: 'invalid_network' } as const;
    const { headers, body } = openChallenges({})({ ...price, networks: ['base', 'solana'] }, reason);
    const v2 = decodePaymentRequiredHeader(headers['PAYMENT-REQUIRED'] ?? '');
    expect([v2.error, v2.accepts]).toEqual(['invalid_network', []]);
    expect([body.error, body.accepts]).toEqual(['invalid_network', []]);
  });

  it('says in the header what fits there, and the rest in the body alone', () => {
    const detail = 'x'.repeat(limits.challenge_error_chars_max + 1);
    const { headers, body } = openChallenges({ base: PAY_TO })(price, { code: 'payment_rejected', detail });
    const v2 = decodePaymentRequiredHeader(headers['PAYMENT-REQUIRED'] ?? '');
    expect([v2.error, body.error]).toEqual(['payment_rejected', detail]);
    expect(v2.resource).toEqual({ url: price.resource });
    expect(body.accepts).toMatchObject([{ description: price.description, mimeType: 'application/json' }]);
  });

  it('is encoded once per price and reason', () => {
    const challenges = openChallenges({ base: PAY_TO });
    expect(challenges(price, null)).toBe(challenges({ ...price }, null));
    expect(challenges(price, null)).toEqual(openChallenges({ base: PAY_TO })(price, null));
    expect(challenges({ ...price, amount_atomic: 1n }, null)).not.toEqual(challenges(price, null));
    expect(challenges(price, { code: 'payment_rejected' })).not.toEqual(challenges(price, null));
  });
});

describe('the settlement header', () => {
  it.each([
    [1, 'X-PAYMENT-RESPONSE', 'base', 'base'],
    [2, 'PAYMENT-RESPONSE', 'base', 'eip155:8453'],
    [1, 'X-PAYMENT-RESPONSE', 'solana', 'solana'],
    [2, 'PAYMENT-RESPONSE', 'solana', 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp'],
  ] as const)('of v%i is %s, and names %s', (version, header, paid_on, network) => {
    const failed = { success: false, transaction: '', error_reason: 'settlement_pending' };
    const answer = { ...failed, network: paid_on, payer: PAY_TO };
    const decoded = decodePaymentResponseHeader(settlementHeaders(version, answer)[header] ?? '');
    expect(decoded).toEqual({
      success: false,
      transaction: '',
      network,
      payer: PAY_TO,
      errorReason: 'settlement_pending',
    });
  });
});
