import { beforeAll, describe, expect, it } from 'vitest';
import { openKnownCharge } from '../../../gateway/call/known-charge.ts';
import { paymentNameIn } from '../../../gateway/rails/named-payment.ts';
import { type ErrorCode, Refusal } from '../../../schema/errors.ts';
import type { PresentedPayment } from '../../../subgraphs/context.ts';
import type { Database } from '../../../subgraphs/database.ts';
import { claim, claimRequest } from '../../harness/claim/fixture.ts';
import { freshStore } from '../../harness/store.ts';

/* What is said of a payment beside a refusal that was found without a look at it. */

const from = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const paymentOf = (digit: string): PresentedPayment => ({
  x402_version: 1,
  envelope: {
    x402Version: 1,
    scheme: 'exact',
    network: 'base',
    payload: {
      signature: `0x${'1'.repeat(130)}`,
      authorization: {
        from,
        to: from,
        value: '2000',
        validAfter: '0',
        validBefore: '2000000000',
        nonce: `0x${digit.repeat(64)}`,
      },
    },
  },
});
const known = paymentOf('1');

let database: Database;
beforeAll(async () => {
  database = await freshStore();
  const key = paymentNameIn(known)?.claim_key ?? '';
  await claim(database, claimRequest(key));
});

const away = { query: () => Promise.reject(new Error('away')) } as unknown as Database;
const rejected = (code: ErrorCode) => new Refusal(code, { facts: { charged: false } });

async function beside(code: ErrorCode, payment: PresentedPayment, asked: { database?: Database; halted?: boolean }) {
  const { beside: judge } = openKnownCharge({
    database: asked.database ?? database,
    isSigned: async () => true,
    hears: outcome => new Refusal('settlement_pending', { facts: { outcome: outcome.kind } }),
    log: { halt: asked.halted ? ({} as never) : null },
  });
  const said = await judge(rejected(code), payment);
  const { charged = 'unsaid' } = said.extensions;
  return { code: said.code, charged };
}

describe('a refusal beside a payment', () => {
  it('of which nothing is known here: not charged, and a 402 asks for another', async () => {
    expect(await beside('payment_rejected', paymentOf('2'), {})).toEqual({ code: 'payment_rejected', charged: false });
  });

  it('that is under way: a 402 is answered as pending', async () => {
    expect(await beside('payment_rejected', known, {})).toMatchObject({ code: 'settlement_pending' });
  });

  it.each([
    ['the database does not say', { database: away }],
    ['the log is halted, so that its claim may be lost', { halted: true }],
  ])('where %s: never a 402, since nobody shall sign another', async (_, asked) => {
    expect(await beside('payment_rejected', paymentOf('3'), asked)).toMatchObject({ code: 'settlement_pending' });
    expect(await beside('invalid_request', paymentOf('3'), asked)).toEqual({ code: 'invalid_request', charged: null });
  });
});
