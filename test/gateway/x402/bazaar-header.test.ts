import { encodePaymentRequiredHeader } from '@x402/core/http';
import type { PaymentRequired } from '@x402/core/types';
import { expect, it } from 'vitest';
import { openExtensions } from '../../../gateway/x402/extensions/open-extensions.ts';
import { openChallenges } from '../../../gateway/x402/offer.ts';
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
const isShort = (header: string) => header.length + 'PAYMENT-REQUIRED'.length < HEADER_BYTES_MAX;

it.each([20, 40, 60, 80, 100, 120])(
  'of a BASE_URL of %d characters each paid door’s 402 has the first form that leaves it short enough, or none',
  chars => {
    const base_url = `https://${'g'.repeat(chars - 'https://'.length)}`;
    for (const { door, path } of priced) {
      const price = priceOf(door, base_url + path);
      if (price === null) throw new Error(`${door.name} has no price`);
      const { called: _, ...without } = price;
      const bare = challenges({ ...without, description: 'without' }, null).required as unknown as PaymentRequired;
      const wanted = briefBazaars(door).find(bazaar =>
        isShort(encodePaymentRequiredHeader({ ...bare, extensions: { ...bare.extensions, bazaar } })),
      );
      const { required } = challenges(price, null);
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
