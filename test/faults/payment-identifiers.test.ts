import { beforeAll, describe, expect, it } from 'vitest';
import type { Wallet } from '../harness/buyer.ts';
import { identifiedPayment, newIdentifier } from '../harness/doors/payment-identifiers.ts';
import { audit } from '../harness/faults/audit.ts';
import { type Answer, harmless, jwsOf, nameOf } from '../harness/faults/buyer.ts';
import { deaths, untilAllClosed } from '../harness/faults/claims.ts';
import { eventually, type Ground, openGround } from '../harness/faults/ground.ts';
import type { RunningService } from '../harness/worker-gateway.ts';

/* A purchase under one payment identifier is requested several times, each time with another authorization. */

const PRICE = 2_000n;

let ground: Ground;
let gateways: readonly [RunningService, RunningService];

beforeAll(async () => {
  ground = await openGround();
  gateways = await Promise.all([ground.start(), ground.startProcess()]);
});

type Purchase = { readonly payer: Wallet; readonly name: string; readonly content: string };

async function newPurchase(content: string, amount_atomic?: bigint): Promise<Purchase> {
  return { payer: await ground.chain.newWallet(amount_atomic), name: newIdentifier(), content };
}

/** Makes a new authorization for the purchase. Returns a function that sends it. */
async function ordered({ payer, name, content }: Purchase) {
  const { headers } = await identifiedPayment(ground, payer, name);
  const body = JSON.stringify({ model: 'test/model', messages: [{ role: 'user', content }] });
  return async ({ url }: { readonly url: string }): Promise<Answer> => {
    const request = { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body };
    const answer = await fetch(`${url}/v1/chat/completions`, request);
    return { status: answer.status, headers: answer.headers, body: (await answer.json()) as Answer['body'] };
  };
}

const buy = async (purchase: Purchase, gateway: { readonly url: string }) => (await ordered(purchase))(gateway);

async function transfersOf({ payer }: Purchase): Promise<number> {
  const transfers = await ground.chain.transfers(ground.pay_to);
  return transfers.filter(({ from }) => from === payer.address.toLowerCase()).length;
}

async function receiptsOf({ payer }: Purchase): Promise<number> {
  const text = 'select task_id from receipt where payer_wallet = $1';
  return (await ground.database.query({ text, values: [payer.address] })).length;
}

describe('fifty payments under one identifier at once over two processes', () => {
  it.each([
    ['of a payer who has enough for all', undefined],
    ['of one who has enough for one', PRICE],
  ])('%s: one transfer, one receipt, and to the others that or "ask again"', async (_, amount_atomic) => {
    const purchase = await newPurchase('me once', amount_atomic);
    const sends = await Promise.all(Array.from({ length: 50 }, () => ordered(purchase)));
    const answers = await Promise.all(sends.map((sending, index) => sending(gateways[index % 2 === 0 ? 0 : 1])));

    expect([...new Set(answers.map(nameOf))].filter(heard => !harmless.has(heard))).toEqual([]);
    const settled = answers.filter(({ headers }) => headers.get('x-svc-settlement-status') === 'settled');
    expect(settled).toHaveLength(1);
    await untilAllClosed(ground);
    const late = await Promise.all(gateways.map(gateway => buy(purchase, gateway)));
    const paid = [...answers, ...late].filter(({ status }) => status === 200);
    expect(new Set(paid.map(jwsOf)).size).toBe(1);
    expect([await transfersOf(purchase), await receiptsOf(purchase)]).toEqual([1, 1]);
    await audit(ground);
  });
});

const tried = new Set(['after_work', 'before_record']);

describe.each(deaths.filter(([point]) => tried.has(point)))('a process killed %s', (point, left) => {
  it('another payment under the same identifier: no second charge', async () => {
    const purchase = await newPurchase(point);
    const dying = await ground.startDying({ plan: { point } });
    const lost = buy(purchase, dying).catch(() => null);
    await dying.died;
    expect(await lost).toBeNull();
    await dying.endLease();

    // Each attempt uses another authorization, of which at most one may move, regardless of the answers.
    const bought = await eventually('bought', async () => {
      const answer = await buy(purchase, gateways[0]);
      expect(harmless).toContain(nameOf(answer));
      return answer.status === 200 ? answer : null;
    });
    expect(bought.headers.get('x-svc-settlement-status')).toBe(left === 'recorded' ? 'idempotent_replay' : 'settled');
    expect(jwsOf(await buy(purchase, gateways[1]))).toBe(jwsOf(bought));
    await untilAllClosed(ground);
    expect([await transfersOf(purchase), await receiptsOf(purchase)]).toEqual([1, 1]);
    await audit(ground);
  });
});
