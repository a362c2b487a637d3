import { decodePaymentRequiredHeader, encodePaymentRequiredHeader } from '@x402/core/http';
import type { PaymentRequired } from '@x402/core/types';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { openExtensions } from '../../../gateway/x402/extensions.ts';
import { describeChallenge, openChallenges } from '../../../gateway/x402/offer.ts';
import { everyDoor } from '../../../rest-compat/every-door.ts';
import { briefBazaars } from '../../../rest-compat/faces/bazaar.ts';
import { priceOf } from '../../../rest-compat/offer.ts';
import { limits } from '../../../schema/limits.ts';

const pay_to = {
  base: '0xfa5D8Ca5c67Df773468905bbE4BCeBfAc6Bbc3FB',
  solana: 'BHczyCET6ymkXpZcc4mPbLGi3rnhHzFfWm9LSFpZGBZ3',
  solana_fee_payer: '5tugFz1gVzpwbVnxy78d3LopHuWBArMRVej3QNKQYNQy',
};
const signer = { signDigest: () => `0x${'ab'.repeat(65)}` as const };
const challenges = openChallenges(pay_to, openExtensions(signer, { now_ms: () => 1_795_735_048_000 }));

const priced = everyDoor.flatMap(door => {
  const path = door.path.replaceAll(/\{\w+\}/g, 'a_0123456789abcdef0123456789abcdef');
  return door.price?.amount_atomic ? [{ door, path }] : [];
});
const HEADER_BYTES_MAX = limits.challenge_headers_bytes_max - limits.challenge_beside_bytes_max;
/** Bytes of the other headers on the wire; the limit reserves more: test/doors/bazaar.test.ts. */
const BESIDE_BYTES = 880;
const isShort = (header: string) => header.length + 'PAYMENT-REQUIRED'.length < HEADER_BYTES_MAX;

it.each([20, 40, 60, 80, 100, 120])(
  'of a BASE_URL of %d characters each paid door’s 402 has the first form that leaves it short enough, or none',
  chars => {
    const base_url = `https://${'g'.repeat(chars - 'https://'.length)}`;
    for (const { door, path } of priced) {
      const price = priceOf(door, base_url + path);
      if (price === null) throw new Error(`${door.name} has no price`);
      const { call_description: _, ...without } = price;
      const bare = challenges({ ...without, description: 'without' }, null).required as unknown as PaymentRequired;
      const wanted = briefBazaars(door).find(bazaar =>
        isShort(encodePaymentRequiredHeader({ ...bare, extensions: { ...bare.extensions, bazaar } })),
      );
      const { required, headers } = challenges(price, null);
      const header = headers['PAYMENT-REQUIRED'] ?? '';
      if (wanted) expect(isShort(header), door.name).toBe(true);
      // Beyond 60 characters the offers alone may be too long: each further character takes 4 bytes.
      const all = header.length + 'PAYMENT-REQUIRED'.length + BESIDE_BYTES;
      if (chars <= 60) expect(all, door.name).toBeLessThan(limits.challenge_headers_bytes_max);
      const { bazaar = undefined } = required.extensions as { bazaar?: object };
      expect(bazaar, door.name).toEqual(wanted);
    }
  },
);

it('of a BASE_URL of 60 characters every door of work says how it is called', () => {
  const base_url = `https://${'g'.repeat(60 - 'https://'.length)}`;
  for (const { door, path } of priced.filter(({ door }) => door.possession === 'none')) {
    const price = priceOf(door, base_url + path);
    expect(price && challenges(price, null).required.extensions, door.name).toHaveProperty('bazaar');
  }
});

it('however long its three forms are, the header has the longest that leaves it short enough, or none', () => {
  const [{ door, path } = { door: undefined, path: '' }] = priced;
  const price = door && priceOf(door, `https://svc.test${path}`);
  if (!price) throw new Error('nothing has a price');
  const { call_description: _, ...without } = price;
  const { headers, body } = challenges(without, null);
  const bare = decodePaymentRequiredHeader(headers['PAYMENT-REQUIRED'] ?? '');
  const with_form = (bazaar: object) =>
    encodePaymentRequiredHeader({ ...bare, extensions: { ...bare.extensions, bazaar } });
  const form = (chars: number, at: number) => ({ info: { form: at }, schema: { description: 'x'.repeat(chars) } });
  // As many characters as certainly fit, in base64; of twice as many, half do.
  const room = Math.floor(((HEADER_BYTES_MAX - with_form(form(0, 0)).length) * 3) / 4);
  const seen = new Set<number>();
  const lengths = fc.array(fc.integer({ min: 0, max: 2 * room }), { minLength: 3, maxLength: 3 });
  const about = fc.constantFrom(-40, -24, -20, -16, -12, -8, -4, 0, 4, 8).map(by => [room + by, room + by, room + by]);
  fc.assert(
    fc.property(fc.oneof({ weight: 9, arbitrary: lengths }, { weight: 1, arbitrary: about }), given => {
      const bazaars = [...given].sort((one, other) => other - one).map(form);
      const described = describeChallenge({ headers, body }, { output_schema: {}, bazaars });
      const header = described.headers['PAYMENT-REQUIRED'] ?? '';
      const wanted = bazaars.findIndex(bazaar => isShort(with_form(bazaar)));
      const { bazaar } = (decodePaymentRequiredHeader(header).extensions ?? {}) as { bazaar?: object };
      expect(bazaar).toEqual(bazaars[wanted]);
      expect(isShort(header)).toBe(true);
      seen.add(wanted);
    }),
    { numRuns: 400 },
  );
  expect([...seen].sort()).toEqual([-1, 0, 1, 2]);
});
