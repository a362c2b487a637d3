import { createPublicKey, verify } from 'node:crypto';
import { decodeJwt } from 'jose';
import { beforeAll, describe, expect, it } from 'vitest';
import { canonicalJson, type JsonObject } from '../../schema/canonical-json.ts';
import { sha256Hex } from '../../schema/digest.ts';
import { lookSlot } from '../../subgraphs/book/ingest/find.ts';
import { nowSeconds } from '../harness/buyer.ts';
import { onGraph } from '../harness/doors/on-graph.ts';
import { SHOP, signAsShop } from '../harness/ingest/merchant.ts';
import { type Agent, type IngestService, openIngestService } from '../harness/ingest/open-ingest.ts';
import { invoiceOf, newAddress, sendOf, transferOf } from '../harness/ingest/transfer-source.ts';
import { hurryTasks } from '../harness/jobs.ts';

let house: IngestService;
let agent: Agent;
beforeAll(async () => {
  house = await openIngestService();
  agent = house.agent;
});

describe('POST /v1/agents/{agent_id}/book/ingest', () => {
  it('201 of what its agent paid elsewhere: a signed record, a row, and two receipts that bind book and payment', async () => {
    const transfer = house.ownTransfer();
    const before = await house.bookOf();
    const stamps = await house.stampsOf();
    const heard = await house.ingest(
      invoiceOf(transfer, { job_kind: 'research', deliverable: 'a report', intent_id: 'q3', attempt_index: 1 }),
    );
    expect(heard.status).toBe(201);
    const ref = `base:${transfer.transaction}`;
    const commitment = {
      status: 'committed',
      hash: sha256Hex('a report'),
      kind: 'sha256',
      omission_rule: null,
      by: 'reporter',
    };
    const intent = { job_kind: 'research', resource: 'https://shop.example/v1/x', intent_id: 'q3', attempt_index: 1 };
    const { signature, issuer_signature, ...said } = heard.body;
    expect(said).toEqual({
      task_id: expect.stringMatching(/^task_/),
      agent_id: agent.agent_id,
      payer_proven: true,
      payment: { ref, rail: 'usdc', amount: '2500000', collected: true },
      route: { hub: 'shop.example', model: null, resource: 'https://shop.example/v1/x' },
      verify_url: expect.stringContaining(`/receipt/${heard.body.task_id}`),
      foreign_x402: true,
      source: 'foreign_ingest',
      evidence: 'foreign_ingest',
      fulfillment: {
        intent,
        authorization: { payer_wallet: transfer.payer, delegation_hash: null, payment_ref: ref },
        output_commitment: commitment,
      },
      recorded_at: expect.any(String),
    });
    expect(signature).toMatchObject({ alg: 'ES256', scope: 'recorded' });
    expect(await isSigned(said, String(signature?.value))).toBe(true);
    expect(await isSigned({ ...said, agent_id: 7 }, String(signature?.value))).toBe(false);

    expect(await house.rowOf(said.task_id)).toMatchObject({
      evidence: 'foreign_ingest',
      collected: true,
      payment: { ref, rail: 'usdc', amount: '2500000' },
      payer_wallet: transfer.payer,
      payer_proven: true,
      pay_to: transfer.pay_to,
      fulfillment: { ...intent, output_commitment: commitment },
      collected_at: said.recorded_at,
    });
    const after = await house.bookOf();
    expect(BigInt(after.totals.usdc_sum) - BigInt(before.totals.usdc_sum)).toBe(2500000n);
    expect(after.spent).toBe(before.spent);

    const journal = await house.service.get(`/v1/agents/${agent.agent_id}/book/export/journal?format=ledger`, {
      'X-SVC-Session': agent.session,
    });
    const [, entry = ''] = journal.text.split(`(${said.task_id})`);
    expect(entry).toMatch(/^[^\n]*\n {2};[^\n]*\n {2}expenses:foreign {2}2\.500000 USDC\n {2}assets:wallet:usdc /);

    expect(await house.stampsOf()).toBe(stamps + 1);
    const receipt = (await house.service.get(`/receipt/${said.task_id}`)).body;
    expect(issuer_signature).toEqual(receipt.issuer_signature);
    const query = `{ receipt(taskId: "${said.task_id}") { payloadVersion } }`;
    expect((await onGraph(house.service, query)).data).toEqual({ receipt: { payloadVersion: 4 } });
    expect(claimsOf(receipt)).toMatchObject({
      payload_version: 4,
      book_id: agent.agent_id,
      payment_ref: ref,
      task_id: said.task_id,
      observed_transfer: transfer,
      payer_proven: true,
    });
    const stamp = await stampReceipt(said.task_id);
    expect(claimsOf(stamp)).toMatchObject({
      payload_version: 4,
      book_id: agent.agent_id,
      observed_transfer: { payer: agent.account.address, pay_to: house.service.pay_to, amount: '2000' },
    });
    expect(await house.rowOf(String(stamp.task_id))).toBeUndefined();
  });

  it.each([
    ['an offer with its settlement header', true],
    ['an offer with its settlement as an object', false],
  ])('201 of %s', async (_, header) => {
    const { transaction, payer, pay_to, amount } = house.ownTransfer();
    const settled = { success: true, transaction, network: 'eip155:8453', payer };
    const heard = await house.ingestWaived({
      payment_required: { resource: 'https://shop.example/v1/y', amount, payTo: pay_to.toLowerCase(), asset: 'USDC' },
      payment_response: header ? Buffer.from(JSON.stringify(settled)).toString('base64') : settled,
    });
    expect(heard).toMatchObject({
      status: 201,
      body: {
        payment: { ref: `base:${transaction}`, collected: true },
        fulfillment: { output_commitment: { status: 'UNVERIFIED', omission_rule: 'no_deliverable' } },
      },
    });
  });

  it('201 of a cemented send of XNO: it is in no sum of USDC, on no page and in no export', async () => {
    const send = house.world.show(sendOf());
    const account = await house.service.newAgent();
    const description = 'Two hours of research';
    const nano = { block: send.transaction.toLowerCase(), recipient: send.pay_to, amount: send.amount, description };
    const heard = await house.ingestWaived({ nano }, account);
    expect(heard).toMatchObject({
      status: 201,
      body: { payment: { ref: `nano:${send.transaction}`, rail: 'xno', amount: send.amount, collected: false } },
    });
    expect(await house.rowOf(heard.body.task_id, account)).toMatchObject({
      description,
      payment: { rail: 'xno', amount: null },
    });

    const signed = house.world.show(sendOf({ payer: newAddress() }));
    expect((await house.ingestWaived({ nano: { ...nano, block: signed.transaction } }, account)).status).toBe(201);
    const book = await house.bookOf(account);
    expect(book).toMatchObject({
      totals: { usdc_sum: '2000', by_rail: { usdc: { count: 1, amount: '2000' } } },
      spent: '2000',
    });
    const audit = await house.service.post<JsonObject>(
      `/v1/agents/${account.agent_id}/book/export`,
      { format: 'json' },
      house.possessed(account),
    );
    expect(audit.body).toMatchObject({ totals: book.totals });
  });

  it('201 once: the same payment sent again is heard again, and a transfer is recorded once for ever', async () => {
    const body = invoiceOf(house.ownTransfer());
    const payment = await house.service.payment(agent.account, house.doorOf(agent), house.possessed());
    const stamps = await house.stampsOf();
    const first = await house.service.post(house.doorOf(agent), body, { ...house.possessed(), ...payment });
    const again = await house.service.post(house.doorOf(agent), body, { ...house.possessed(), ...payment });
    expect([first.status, again.status]).toEqual([201, 201]);
    expect(again.body).toEqual(first.body);
    expect(again.headers.get('x-svc-settlement-status')).toBe('idempotent_replay');

    const { foreign_invoice } = body;
    const spelt = {
      fulfillment_invoice: { ...foreign_invoice, tx: undefined, payment_ref: `eip155:8453:${foreign_invoice.tx}` },
    };
    expect(await house.ingest(spelt)).toMatchObject({ status: 409, body: { code: 'duplicate_ref' } });
    expect(await house.ingestWaived({ ...body, transfer_index: 3 })).toMatchObject({
      status: 409,
      body: { code: 'duplicate_ref' },
    });
    expect(await house.stampsOf()).toBe(stamps + 1);
  });

  it('201 of each of several transfers in one transaction, by its index', async () => {
    const one = house.ownTransfer({ index: 5 });
    const other = house.world.show({ ...one, index: 6 });
    const body = invoiceOf(one);
    expect(await house.ingestWaived(body)).toMatchObject({
      status: 400,
      body: { code: 'transfer_not_believed', reason: 'ambiguous', transfer_indexes: [5, 6] },
    });
    const heard = [];
    for (const transfer_index of [5, 6]) heard.push(await house.ingestWaived({ ...body, transfer_index }));
    expect(heard.map(({ status }) => status)).toEqual([201, 201]);
    expect(other.transaction).toBe(one.transaction);
    const rows = await Promise.all(heard.map(({ body: { task_id } }) => house.rowOf(task_id)));
    expect(rows.map(row => row?.transfer_index)).toEqual([5, 6]);
  });

  it('201 of one of fifty that race for one transfer', async () => {
    const body = invoiceOf(house.ownTransfer());
    const heard = await Promise.all(Array.from({ length: 50 }, () => house.ingestWaived(body)));
    const statuses = heard.map(({ status }) => status);
    expect(statuses.filter(status => status === 201)).toHaveLength(1);
    expect(statuses.filter(status => status !== 201 && status !== 409)).toEqual([]);
    const refs = (await house.bookOf()).entries.filter(
      ({ payment }) => payment?.ref === `base:${body.foreign_invoice.tx}`,
    );
    expect(refs).toHaveLength(1);
  });

  it('201 by a key leaves to a payment that is under way what it holds', async () => {
    const transfer = house.ownTransfer();
    const { payer, pay_to, amount, transaction } = transfer;
    const slot = lookSlot({
      foreign_invoice: { network: 'base', tx: transaction, payer, payTo: pay_to, amount },
    } as never);
    await house.service.query(`insert into claim_slot (slot, claim_key) values ($1, 'under way')`, [slot]);
    expect(await house.ingest(invoiceOf(transfer))).toMatchObject({ status: 409, body: { code: 'duplicate_ref' } });
    expect((await house.ingestWaived(invoiceOf(transfer))).status).toBe(201);
    const held = await house.service.query('delete from claim_slot where slot = $1 returning claim_key', [slot]);
    expect(held).toEqual([{ claim_key: 'under way' }]);
  });

  it('201 unproven of a stranger’s payment: it is in no sum, and yields to whoever proves to be its payer', async () => {
    const other = await house.service.newAgent();
    const transfer = house.ownTransfer();
    const before = await house.bookOf(other);
    const body = invoiceOf(transfer);
    const unproven = await house.ingestWaived(body, other);
    expect(unproven).toMatchObject({
      status: 201,
      body: { payment: { amount: '2500000', collected: false }, payer_proven: false },
    });
    const { agent_id } = other;
    expect(unproven.body.payer_text).toMatch(
      new RegExp(`^svc\\.ingest\\|.*${agent_id}\\|base:${transfer.transaction}\\|\\d+$`),
    );
    expect(await house.rowOf(unproven.body.task_id, other)).toMatchObject({
      payer_proven: false,
      collected: false,
      observed_amount: '2500000',
      payment: { ref: `base:${transfer.transaction}`, rail: 'usdc', amount: null },
    });
    expect((await house.bookOf(other)).totals).toEqual(before.totals);
    expect((await house.ingestWaived(body, other)).status).toBe(409);

    const proven = await house.ingestWaived(body);
    expect(proven).toMatchObject({ status: 201, body: { payment: { collected: true }, payer_proven: true } });
    expect(proven.body).not.toHaveProperty('payer_text');
    await yieldNow();
    const { task_id } = unproven.body;
    const correction = {
      evidence: 'UNVERIFIED',
      collected: false,
      corrects: task_id,
      yielded_to: proven.body.task_id,
      reason: 'The same transfer is recorded by another row, whose payer is proven.',
    };
    await expect.poll(() => correctionsOf(task_id, other)).toMatchObject([correction]);
    const [row] = await correctionsOf(task_id, other);
    const last = (await house.bookOf(other)).entries[0];
    expect(row).toMatchObject({ seq: last?.seq, payment: { amount: null } });
    expect((await house.bookOf(other)).totals).toEqual(before.totals);
    // An export also contains the row, but no total counts it.
    const shown = { 'X-SVC-Session': other.session };
    const export_of = `/v1/agents/${other.agent_id}/book/export?format=`;
    const pack = await house.service.get<{ rows: JsonObject[] }>(`${export_of}json`, shown);
    expect(pack.body.rows.filter(it => it.corrects === task_id)).toMatchObject([
      { task_id: row?.task_id, amount: null, yielded_to: proven.body.task_id },
    ]);
    expect((await house.service.get(`${export_of}csv`, shown)).text).toContain(`${task_id},${proven.body.task_id}`);
  });

  it('201 proven by what its payer has signed, and 400 by what he has not', async () => {
    const payer = await house.service.chain.newWallet(0n);
    const transfer = house.world.show(transferOf({ payer: payer.address }));
    const at = nowSeconds();
    const text = (agent_id: number, seconds: number) =>
      `svc.ingest|${house.service.url}|${agent_id}|base:${transfer.transaction}|${seconds}`;
    const shown = async (agent_id: number, seconds: number) => ({
      ...invoiceOf(transfer),
      payer_signature: await payer.signMessage({ message: text(agent_id, seconds) }),
      payer_signature_timestamp: seconds,
    });
    for (const [body, param] of [
      [await shown(agent.agent_id + 1, at), 'payer_signature'],
      [await shown(agent.agent_id, at - 301), 'payer_signature_timestamp'],
      [{ ...(await shown(agent.agent_id, at)), payer_signature_timestamp: at - 1 }, 'payer_signature'],
    ] as const)
      expect(await house.ingestWaived(body)).toMatchObject({
        status: 400,
        body: { code: 'payer_signature_invalid', error: { param } },
      });
    // A row without proof yields to the row by which the same agent proves the payment.
    const unproven = await house.ingestWaived(invoiceOf(transfer));
    expect(unproven).toMatchObject({ status: 201, body: { payment: { collected: false } } });
    const proven = await house.ingestWaived(await shown(agent.agent_id, at));
    expect(proven).toMatchObject({ status: 201, body: { payment: { collected: true } } });
    await yieldNow();
    await expect
      .poll(() => correctionsOf(unproven.body.task_id, agent))
      .toMatchObject([{ yielded_to: proven.body.task_id }]);
  });
});

describe('POST /v1/agents/{agent_id}/book/ingest with what whoever was paid has signed', () => {
  it('201, in either form of a payment of USDC', async () => {
    const shop = await house.service.chain.newWallet(0n);
    const one = house.ownTransfer({ pay_to: shop.address });
    const invoiced = await house.ingestWaived({ ...invoiceOf(one), offer_receipt: await signAsShop(shop, one) });
    expect(invoiced.status).toBe(201);
    const two = house.ownTransfer({ pay_to: shop.address });
    const { transaction, payer, pay_to, amount } = two;
    const settled = await house.ingestWaived({
      payment_required: { resource: SHOP, amount, payTo: pay_to },
      payment_response: { transaction, payer },
      offer_receipt: { receipt: (await signAsShop(shop, two)).receipt },
    });
    expect(settled.status).toBe(201);
    for (const { body } of [invoiced, settled])
      expect(await house.rowOf(body.task_id)).toMatchObject({ merchant_signed: true });
    const bare = await house.ingestWaived(invoiceOf(house.ownTransfer()));
    expect(await house.rowOf(bare.body.task_id)).not.toHaveProperty('merchant_signed');
  });

  it('400 offer_receipt_invalid where they have not, before anything is charged', async () => {
    const transfer = house.ownTransfer();
    const stamps = await house.stampsOf();
    const stranger = await house.service.chain.newWallet(0n);
    const offer_receipt = await signAsShop(stranger, transfer);
    expect(await house.ingest({ ...invoiceOf(transfer), offer_receipt })).toMatchObject({
      status: 400,
      body: {
        code: 'offer_receipt_invalid',
        charged: false,
        reason: 'signature_invalid',
        error: { param: 'offer_receipt' },
      },
    });
    const nano = { block: 'c'.repeat(64), recipient: sendOf().pay_to, amount: '1', description: 'A report' };
    for (const body of [
      { nano, offer_receipt },
      { ...invoiceOf(transfer), offer_receipt: {} },
    ])
      expect(await house.ingestWaived(body)).toMatchObject({
        status: 400,
        body: { code: 'invalid_request', error: { param: 'offer_receipt' } },
      });
    expect(await house.stampsOf()).toBe(stamps);
  });
});

const claimsOf = (receipt: JsonObject) => decodeJwt(String((receipt.issuer_signature as JsonObject).jws));

/** The receipt of the stamp under which that row was recorded. It is the leaf before the row's own. */
async function stampReceipt(task_id: string): Promise<JsonObject> {
  const [{ stamp } = { stamp: '' }] = await house.service.query<{ stamp: string }>(
    `select s.task_id as stamp from receipt s join receipt r on s.leaf_index = r.leaf_index - 1 where r.task_id = $1`,
    [task_id],
  );
  return (await house.service.get(`/receipt/${stamp}`)).body;
}

async function isSigned(said: JsonObject, value: string): Promise<boolean> {
  const { keys } = (await house.service.get<{ keys: JsonObject[] }>('/.well-known/jwks.json')).body;
  const key = keys.find(({ kty }) => kty === 'EC');
  const shown = createPublicKey({ key: key as never, format: 'jwk' });
  const data = Buffer.from(canonicalJson(said));
  return verify('sha256', data, { key: shown, dsaEncoding: 'ieee-p1363' }, Buffer.from(value, 'base64url'));
}

const yieldNow = () => hurryTasks(house.service.query, 'yielded_ingests');

/** Rows of a book that correct the row of that task. */
async function correctionsOf(task_id: string, of: Agent) {
  return (await house.bookOf(of)).entries.filter(row => row.corrects === task_id);
}
