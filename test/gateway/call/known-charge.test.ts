import { beforeAll, describe, expect, it } from 'vitest';
import { withKnownCharge } from '../../../gateway/call/known-charge.ts';
import type { CallOutcome } from '../../../gateway/call/respond.ts';
import { authorizationDigest } from '../../../gateway/rails/base/authorization.ts';
import { signatureOf } from '../../../gateway/rails/base/signature.ts';
import { baseJudge } from '../../../gateway/rails/base/verify-authorization.ts';
import { paymentNameIn } from '../../../gateway/rails/named-payment.ts';
import { paymentToJson } from '../../../gateway/rails/payment.ts';
import type { Rails } from '../../../gateway/rails/rail.ts';
import { decodePayment } from '../../../gateway/x402/payment-header.ts';
import { type ErrorCode, Refusal } from '../../../schema/errors.ts';
import { systemClock } from '../../../subgraphs/clock.ts';
import type { PresentedPayment } from '../../../subgraphs/context.ts';
import type { Database } from '../../../subgraphs/database.ts';
import { newPayer, type SignedAuthorization, signAuthorization } from '../../bench/authorizations.ts';
import { paymentHeader } from '../../bench/payments.ts';
import { PAY_TO } from '../../harness/base/wallet.ts';
import { claim, claimRequest } from '../../harness/claim/fixture.ts';
import { freshStore } from '../../harness/store.ts';

/* What is said of a payment beside a refusal that was found without a look at it. */

function shown(signed: SignedAuthorization): PresentedPayment {
  const decoded = decodePayment(2, paymentHeader(signed));
  if (decoded.kind === 'malformed') throw new Error(decoded.why);
  return decoded.payment;
}

const signed = signAuthorization(newPayer(), PAY_TO);
const known = shown(signed);
const unknown = shown(signAuthorization(newPayer(), PAY_TO));

let database: Database;
beforeAll(async () => {
  database = await freshStore();
  const key = paymentNameIn(known)?.claim_key ?? '';
  const { authorization, signature } = signed;
  const digest = authorizationDigest(authorization);
  const payment = { authorization, signature: signatureOf(authorization.payer, digest, signature) };
  await claim(database, claimRequest(key, { authorization: paymentToJson(payment) }));
});

const away = { query: () => Promise.reject(new Error('away')) } as unknown as Database;
const rejected = (code: ErrorCode) => new Refusal(code, { facts: { charged: false } });

async function beside(code: ErrorCode, payment: PresentedPayment, asked: { database?: Database; halted?: boolean }) {
  const parts = {
    database: asked.database ?? database,
    rails: { base: baseJudge, solana: null } as unknown as Rails,
    pay_to: { base: PAY_TO },
    clock: systemClock,
    log: { halt: asked.halted ? ({} as never) : null },
    respond: ({ kind }: CallOutcome) => new Refusal('settlement_pending', { facts: { outcome: kind } }),
  };
  const said = await withKnownCharge(parts, rejected(code), payment);
  const { charged = 'unsaid' } = said.extensions;
  return { code: said.code, charged };
}

describe('a refusal beside a payment', () => {
  it('of which nothing is known here: not charged, and a 402 asks for another', async () => {
    expect(await beside('payment_rejected', unknown, {})).toEqual({ code: 'payment_rejected', charged: false });
  });

  it('that is under way: a 402 is answered as pending', async () => {
    expect(await beside('payment_rejected', known, {})).toMatchObject({ code: 'settlement_pending' });
  });

  it.each([
    ['the database does not say', { database: away }],
    ['the log is halted, so that its claim may be lost', { halted: true }],
  ])('where %s: never a 402, since nobody shall sign another', async (_, asked) => {
    expect(await beside('payment_rejected', unknown, asked)).toMatchObject({ code: 'settlement_pending' });
    expect(await beside('invalid_request', unknown, asked)).toEqual({ code: 'invalid_request', charged: null });
  });
});
