import { randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { canonicalHash, type JsonObject } from '../../schema/canonical-json.ts';
import { reactionLimits } from '../../schema/limits.ts';
import { verify } from '../../subgraphs/receipt/verify/module.ts';
import { verifyReceipt } from '../../subgraphs/receipt/verify/receipt.ts';
import { payingFetch } from '../harness/buyer.ts';
import { type CompletionResult, completionReport, paidCompletion } from '../harness/doors/completions.ts';
import { openService, type Service } from '../harness/doors/open-service.ts';
import { invoiceOf } from '../harness/ingest/transfer-source.ts';

const DOOR = '/v1/board/inbound/completions';
const secret = `inbound-${randomBytes(16).toString('hex')}`;
const shown = { 'X-SVC-Board-Inbound': secret };

let service: Service;
beforeAll(async () => {
  service = await openService(
    { BOARD_INBOUND_SECRET: secret, SOLANA_RPC_URL: '' },
    { meant: /the log (is halted|does not extend)|log_halt/i },
  );
});

const record = (said: JsonObject, headers: Readonly<Record<string, string>> = shown) =>
  service.post<CompletionResult>(DOOR, said, headers);
const receipts = async () => (await service.query<{ n: number }>('select count(*)::int as n from receipt'))[0]?.n ?? 0;
/** Tasks of the receipts that events of the board name. */
const eventTasks = async () =>
  (
    await service.query<{ task_id: string }>(
      `select task_id from board_event where kind = 'completion_recorded' order by position`,
    )
  ).map(({ task_id }) => task_id);

describe(`POST ${DOOR}`, () => {
  it('201 of a payment that its chain shows: settled_by observed_transfer, and a receipt that verifies offline', async () => {
    const { said, tx_hash, log_index, payer, payee } = await paidCompletion(service);
    const before = await eventTasks();
    const { status, body } = await record(said);
    const { receipt, ...answer } = body;
    const ref = `base:${tx_hash}`;
    expect([status, answer]).toEqual([
      201,
      {
        task_id: expect.stringMatching(/^task_[0-9a-z]{26}$/),
        source: said.source,
        external_id: said.external_id,
        network: 'base',
        payer: payer.address,
        payee: payee.address,
        amount: '90000',
        payment_ref: ref,
        output_hash: said.output_hash,
        settled_by: 'observed_transfer',
        evidence: 'foreign_ingest',
        observed_transfer: {
          network: 'base',
          transaction: tx_hash,
          index: log_index,
          asset: expect.any(String),
          payer: payer.address,
          pay_to: payee.address,
          amount: '90000',
          final: expect.any(Boolean),
        },
        verify_url: `${service.url}/receipt/${body.task_id}`,
        recorded_at: expect.any(String),
      },
    ]);
    const reported = {
      by: `inbound:${said.source}`,
      generation_id: said.external_id,
      rail: 'usdc',
      amount: '90000',
      payment_ref: ref,
      verified_with: 'base',
    };
    expect(receipt).toMatchObject({
      settled_by: 'observed_transfer',
      proof_outcome: 'none',
      payment_ref: null,
      reported,
    });
    expect(receipt.payload).toMatchObject({
      settlement_basis: 'observed_transfer',
      reported_parties: { payer: payer.address, payee: payee.address, verified: true },
      job_kind: 'other',
      fulfillment: {
        authorization: { payer_wallet: payer.address, payment_ref: ref },
        output_commitment: { status: 'committed', hash: said.output_hash, kind: 'sha256' },
      },
    });
    for (const name of ['claim_id', 'amount', 'payer_wallet', 'book_seq']) expect(receipt).not.toHaveProperty(name);
    const { payment_tx: transaction, ...args } = { ...said, network: 'base' } as JsonObject;
    expect((receipt.payload as JsonObject).request_hash).toBe(
      canonicalHash({ field: 'Mutation.recordCompletion', args: { ...args, transaction } as JsonObject }),
    );
    expect(verifyReceipt(receipt as JsonObject, await service.jwks())).toMatchObject({
      kind: 'valid',
      claim_id: 'none',
    });
    const audit = (await service.get(`/receipt/${body.task_id}?format=auditor`)).body;
    expect(verify(audit, null).fault).toBeNull();
    expect(String(audit.does_not_prove)).toContain('took no payment for it');
    expect(await eventTasks()).toEqual([...before, body.task_id]);
  });

  it('201 of what the chain does not show: settled_by null, UNVERIFIED, and a receipt that says no more', async () => {
    const { said } = await paidCompletion(service);
    const lies: JsonObject[] = [
      completionReport(),
      { ...said, amount: '90001' },
      { ...said, payee: String(said.payer) },
    ];
    for (const [index, lie] of lies.entries()) {
      const { status, body } = await record({ ...lie, external_id: `lie-${index}` });
      expect([status, body]).toMatchObject([
        201,
        { settled_by: null, evidence: 'UNVERIFIED', observed_transfer: null, receipt: { settled_by: null } },
      ]);
      expect(body.receipt.payload).not.toHaveProperty('settlement_basis');
      expect(body.receipt.reported).not.toHaveProperty('verified_with');
      const { payer, payee } = body;
      expect(body.receipt.payload.reported_parties).toEqual({ payer, payee, verified: false });
      expect(body.receipt.payload.fulfillment.authorization).toMatchObject({ payer_wallet: null, payment_ref: null });
      expect(verifyReceipt(body.receipt as JsonObject, await service.jwks())).toMatchObject({ kind: 'valid' });
    }
    const rows = await service.query(`select 1 from book_row r join board_completion c using (task_id)`);
    expect(rows).toEqual([]);
  });

  it('200 for the same again, word by word the same; 409 for another body under its id', async () => {
    const { said, tx_hash } = await paidCompletion(service);
    const first = await record(said);
    const before = await receipts();
    const spelt: JsonObject[] = [said, { ...said, network: 'eip155:8453', output_hash: `0x${said.output_hash}` }];
    const { payment_tx: _, ...bare } = said;
    for (const same of [...spelt, { ...bare, payment_ref: `base:${tx_hash}` }]) {
      const { status, body } = await record(same);
      const { receipt, ...answer } = body;
      const { receipt: signed, ...told_first } = first.body;
      expect([status, answer]).toEqual([200, told_first]);
      expect(receipt.payload).toEqual(signed.payload);
    }
    const others: JsonObject[] = [{ amount: '1' }, { output_hash: 'cd'.repeat(32) }, { payee: String(said.payer) }];
    for (const other of others)
      expect(await record({ ...said, ...other })).toMatchObject({
        status: 409,
        body: { code: 'completion_conflict', task_id: first.body.task_id, error: { param: 'external_id' } },
      });
    expect(await receipts()).toBe(before);
  });

  it('40 at once of one completion: one receipt, and one of them 201', async () => {
    const { said } = await paidCompletion(service);
    const before = await receipts();
    const answers = await Promise.all(Array.from({ length: 40 }, () => record(said)));
    expect(new Set(answers.map(({ body }) => body.task_id)).size).toBe(1);
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(39).fill(200), 201]);
    expect(await receipts()).toBe(before + 1);
  });

  it('409 duplicate_ref: a transfer backs one completion, by whichever of many names, and no ingest beside it', async () => {
    const { said, log_index, payer, payee, tx_hash } = await paidCompletion(service);
    const before = await receipts();
    const names = Array.from({ length: 8 }, (_, at) => ({ ...said, external_id: `name-${at}` }));
    const answers = await Promise.all(names.map(name => record(name)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(7).fill(409)]);
    expect(new Set(answers.flatMap(({ body }) => body.code ?? []))).toEqual(new Set(['duplicate_ref']));
    expect(await receipts()).toBe(before + 1);
    const lost = names[answers.findIndex(({ status }) => status === 409)] as JsonObject;
    expect((await record(lost)).status).toBe(409);
    const agent = await service.newAgent();
    const transfer = { network: 'base', transaction: tx_hash, index: log_index, payer: payer.address } as const;
    const invoice = invoiceOf({ ...transfer, pay_to: payee.address, amount: '90000', rail: 'usdc', asset: '' });
    const ingested = await service.knock('POST', `/v1/agents/${agent.agent_id}/book/ingest`, {
      body: invoice,
      headers: { 'X-SVC-Session': agent.session },
      by: payingFetch(agent.account),
    });
    // The agent did not pay. It may report another wallet's payment, but the row would count nowhere.
    expect(ingested).toMatchObject({ status: 409, body: { code: 'duplicate_ref' } });
  });

  it('409 duplicate_ref of what was paid to this service itself, whether a call stands behind it or not', async () => {
    const agent = await service.newAgent();
    const { body: bought } = await service.buy(agent.account);
    const ours = { payer: agent.account.address, payee: service.pay_to, amount: '2000' };
    const refs = [bought.svc.payment_ref, `base:0x${'f'.repeat(64)}`];
    for (const [index, payment_ref] of refs.entries()) {
      const { payment_tx: _, ...said } = completionReport({ ...ours, external_id: `ours-${index}` });
      expect(await record({ ...said, payment_ref })).toMatchObject({ status: 409, body: { code: 'duplicate_ref' } });
    }
  });

  it('503 where its chain cannot answer or nobody asks it, and nothing is written: later it is recorded', async () => {
    const { said } = await paidCompletion(service);
    const before = [await receipts(), await eventTasks()];
    service.gates.base.cut();
    expect(await record(said)).toMatchObject({ status: 503, body: { code: 'chain_unavailable' } });
    service.gates.base.open();
    expect([await receipts(), await eventTasks()]).toEqual(before);
    await expect.poll(async () => (await record(said)).status).toBe(201);
    const solana = { payer: '1'.repeat(32), payee: `${'1'.repeat(31)}2`, network: 'solana' };
    const { payment_tx: _, ...bare } = completionReport(solana);
    const there = await record({ ...bare, payment_ref: `solana:${'1'.repeat(64)}` });
    expect(there).toMatchObject({ status: 503, body: { code: 'network_not_served' } });
  });

  it.each<[param: string, members: JsonObject]>([
    ['source', { source: 'Not One' }],
    ['source', { source: 's'.repeat(65) }],
    ['external_id', { external_id: '' }],
    ['external_id', { external_id: 'a b' }],
    ['payer', { payer: '0x12' }],
    ['payee', { payee: 'somebody' }],
    ['amount', { amount: '0' }],
    ['amount', { amount: 90_000 }],
    ['payment_tx', { payment_tx: '0x12' }],
    ['payment_tx', { payment_ref: `base:0x${'a'.repeat(64)}` }],
    ['payment_ref', { payment_tx: null }],
    ['payment_tx', { payment_tx: `solana:${'3'.repeat(87)}`, network: 'base' }],
    ['network', { network: 'nano' }],
    ['output_hash', { output_hash: 'abc' }],
    ['more', { more: 1 }],
  ])('400 for %s of %j', async (param, members) => {
    expect(await record(completionReport(members))).toMatchObject({ status: 400, body: { error: { param } } });
  });

  it('429 once the hour has no more', async () => {
    await record(completionReport());
    await service.query(`update board_use set uses = $1 where holder = 'inbound'`, [
      reactionLimits.completions_per_hour_max,
    ]);
    expect((await record(completionReport())).status).toBe(429);
    await service.query(`delete from board_use where holder = 'inbound'`);
  });

  it('413 and 415 as anywhere', async () => {
    const post = (body: string, type: string) => service.post(DOOR, body, { ...shown, 'content-type': type });
    expect((await post('x'.repeat(2_000_000), 'application/json')).status).toBe(413);
    expect((await post('{}', 'text/plain')).status).toBe(415);
  });

  it('503 where the log is halted: it goes last, since that is for good', async () => {
    const said = completionReport();
    await record(said);
    const before = [await receipts(), await eventTasks()];
    const head = { tree_size: 1, root_hash: '0'.repeat(64) };
    const halt = JSON.stringify({ known: head, found: head, at: new Date().toISOString(), by: 'a test' });
    await service.query(`update log_head set halted = '${halt}'`);
    for (const body of [completionReport(), said])
      expect(await record(body)).toMatchObject({ status: 503, body: { code: 'unavailable' } });
    expect([await receipts(), await eventTasks()]).toEqual(before);
  });
});
