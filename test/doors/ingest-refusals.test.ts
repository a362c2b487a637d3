import { beforeAll, describe, expect, it } from 'vitest';
import { type ChallengeBody } from '../harness/doors/open-service.ts';
import { type Agent, FAILED_MAX, type IngestService, openIngestService } from '../harness/ingest/open-ingest.ts';
import { invoiceOf, newAddress, transferOf } from '../harness/ingest/transfer-source.ts';

let house: IngestService;
let agent: Agent;
beforeAll(async () => {
  house = await openIngestService();
  agent = house.agent;
});

describe('POST /v1/agents/{agent_id}/book/ingest', () => {
  it.each([
    ['a bare transaction', { tx: `0x${'1'.repeat(64)}` }, 'tx'],
    [
      'a failed settlement',
      { ...offered(), payment_response: { tx: `0x${'1'.repeat(64)}`, payer: newAddress(), success: false } },
      'payment_response.success',
    ],
    [
      'a deliverable of two kinds',
      invoiceOf(transferOf(), { deliverable: 'x', deliverable_kind: 'keccak256' }),
      'foreign_invoice.deliverable_kind',
    ],
    ['two forms', { ...invoiceOf(transferOf()), ...offered() }, 'foreign_invoice'],
  ])('400 of %s, and the payment stays usable', async (_, body, param) => {
    const payment = await house.service.payment(agent.account, house.doorOf(agent), house.possessed());
    const heard = await house.service.post(house.doorOf(agent), body, { ...house.possessed(), ...payment });
    expect(heard).toMatchObject({ status: 400, body: { code: 'invalid_request', error: { param } } });
    const right = await house.service.post(house.doorOf(agent), invoiceOf(house.ownTransfer()), {
      ...house.possessed(),
      ...payment,
    });
    expect(right.status).toBe(201);
  });

  it('400 with its reason of what the chain does not show, 503 where nobody can say: nothing is charged', async () => {
    const stamps = await house.stampsOf();
    const body = invoiceOf(transferOf({ payer: agent.account.address }));
    expect(await house.ingest(body)).toMatchObject({
      status: 400,
      body: { code: 'transfer_not_believed', reason: 'not_found', charged: false },
    });
    house.world.answerWith('unknown');
    const unknown = await house.ingest(body);
    expect(unknown).toMatchObject({ status: 503, body: { code: 'chain_unavailable', charged: false } });
    house.world.answerWith('unsupported');
    expect(await house.ingestWaived(body)).toMatchObject({
      status: 503,
      body: { code: 'network_not_served', charged: false },
    });
    house.world.answerWith(null);
    expect(await house.stampsOf()).toBe(stamps);
  });

  it('409 of what was paid to this service itself', async () => {
    const transfer = house.world.show(transferOf({ payer: agent.account.address, pay_to: house.service.pay_to }));
    expect(await house.ingestWaived(invoiceOf(transfer))).toMatchObject({
      status: 409,
      body: { code: 'duplicate_ref' },
    });
  });

  it('409 of what has paid for a call at a treasury of before, on no book or on another, counted or not yet', async () => {
    const [walk_in, other] = [await house.service.chain.newWallet(), await house.service.newAgent()];
    expect((await house.service.buy(walk_in)).status).toBe(200);
    expect((await house.service.buy(other.account)).status).toBe(200);
    const named = async ({ address }: { address: string }) => {
      const moved = (await house.service.transfersFrom({ address: address as never })).at(-1);
      const place = { transaction: String(moved?.tx_hash), index: moved?.log_index ?? null };
      return invoiceOf(house.world.show(transferOf({ ...place, payer: address, amount: '2000' })));
    };
    const bodies = [await named(walk_in), await named(other.account)];
    const refused = { status: 409, body: { code: 'duplicate_ref', charged: false } };
    for (const body of bodies) expect(await house.ingestWaived(body)).toMatchObject(refused);
    const counted = `select 1 from totals_state where tree_size = (select tree_size from log_head)`;
    await expect.poll(() => house.service.query(counted)).toHaveLength(1);
    for (const body of bodies) expect(await house.ingestWaived(body)).toMatchObject(refused);
  });

  it('409 of what may yet pay for a call, as long as its claim is open', async () => {
    const pay_to = newAddress();
    const transfer = house.world.show(transferOf({ payer: agent.account.address, pay_to }));
    const claimed = (state: string) =>
      house.service.query(
        `update payment_claim set state = $3, final = false, "authorization" = jsonb_set("authorization", '{pay_to}', to_jsonb($2::text))
          where claim_key = (select claim_key from payment_claim where payer = $1 order by claim_key limit 1)`,
        [agent.account.address, pay_to, state],
      );
    await claimed('released');
    expect(await house.ingestWaived(invoiceOf(transfer))).toMatchObject({
      status: 409,
      body: { code: 'duplicate_ref' },
    });
    await claimed('recorded');
    expect((await house.ingestWaived(invoiceOf(transfer))).status).toBe(201);
  });

  it('401 and 403 with nothing in them come before 402, which comes before the body', async () => {
    const other = await house.service.newAgent();
    const closed = { status: 401, text: '' };
    expect(await house.service.post(house.doorOf(agent), invoiceOf(house.ownTransfer()))).toMatchObject(closed);
    expect(await house.service.post(house.doorOf(agent), {}, house.possessed(other))).toMatchObject({
      status: 403,
      text: '',
    });
    expect(await house.service.post(house.doorOf({ agent_id: 999_999 }), {}, house.possessed())).toMatchObject({
      status: 403,
      text: '',
    });
    const unpaid = await house.service.post<ChallengeBody>(
      house.doorOf(agent),
      { nothing: 'of it' },
      house.possessed(),
    );
    expect(unpaid.status).toBe(402);
    expect(unpaid.body.accepts).toEqual([expect.objectContaining({ network: 'base', maxAmountRequired: '2000' })]);
    const by = (key: string) =>
      house.service.post(house.doorOf(agent), invoiceOf(house.ownTransfer()), {
        ...house.possessed(),
        'X-API-Key': key,
      });
    expect(await by('a-live-key')).toMatchObject({ status: 402 });
    expect(await by('a-demo-key')).toMatchObject({ status: 403 });
  });

  it('413 and 415 of what is no request', async () => {
    const long = { ...invoiceOf(house.ownTransfer(), { deliverable: 'x'.repeat(256 * 1024) }) };
    expect((await house.service.post(house.doorOf(agent), long, house.waived())).status).toBe(413);
    const typed = { ...house.waived(), 'content-type': 'text/plain' };
    expect((await house.service.knock('POST', house.doorOf(agent), { headers: typed, body: '{}' })).status).toBe(415);
  });

  it('429 of an agent who goes on naming what is not there', async () => {
    const other = await house.service.newAgent();
    const heard = [];
    for (let count = 0; count < FAILED_MAX + 1; count++)
      heard.push(await house.ingestWaived(invoiceOf(transferOf()), other));
    expect(heard.slice(0, FAILED_MAX).map(({ status }) => status)).toEqual(
      Array.from({ length: FAILED_MAX }, () => 400),
    );
    const last = heard.at(-1);
    expect(last).toMatchObject({ status: 429, body: { code: 'too_many_disbelieved', charged: false } });
    expect(Number(last?.headers.get('retry-after'))).toBeGreaterThan(0);
    // An agent that has named only existing payments is not limited.
    expect((await house.ingestWaived(invoiceOf(house.ownTransfer()))).status).toBe(201);
  });
});

function offered() {
  return { payment_required: { resource: 'https://shop.example/v1/x', amount: '5', payTo: newAddress() } };
}
