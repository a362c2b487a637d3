import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { canonicalHash, type JsonObject } from '../../schema/canonical-json.ts';
import { routerLimits } from '../../schema/limits.ts';
import { NOT_SETTLED_HERE } from '../../schema/router/work-report.ts';
import { verify } from '../../subgraphs/receipt/verify/module.ts';
import { verifyReceipt } from '../../subgraphs/receipt/verify/receipt.ts';
import { registrationOf } from '../harness/buyer.ts';
import { openService, REGISTER, type Service } from '../harness/doors/open-service.ts';
import { bearer, report, routerDoorsOf, startRouter } from '../harness/doors/router.ts';

let service: Service;
let router: Awaited<ReturnType<typeof startRouter>>;
let agent: Awaited<ReturnType<Service['newAgent']>>;
/** A book with a key of the router, and a book without one. */
let keyed: { readonly book_id: string; readonly ingest_key: string };
let bare: typeof keyed;
beforeAll(async () => {
  router = await startRouter();
  service = await openService(
    { ROUTER_URL: router.base_url, RATE_FREE: '100000/1' },
    { meant: /the log (is halted|does not extend)|log_halt/i },
  );
  agent = await service.newAgent();
  [keyed, bare] = [(await open()).body, (await open()).body];
  await setKey(keyed.book_id, 'sk-or-key', bearer(keyed.ingest_key));
});
const TOLD = { model: 'some/model', cost: '0.00125' };
beforeEach(async () => {
  router.answerWithCost(TOLD);
  await service.query('delete from router_use');
});
const { open, setKey, broadcast } = routerDoorsOf(() => service);

const receipts = async () => (await service.query<{ n: number }>('select count(*)::int as n from receipt'))[0]?.n;
const receiptOf = async (task_id: string) => (await service.get(`/receipt/${task_id}.json`)).body;

describe('POST /v1/router/broadcast', () => {
  it('201 with one receipt, which signs what was said and no payment, and verifies offline', async () => {
    const said = report({ payment_ref: 'base:0xsomebody-elses' });
    const { status, body } = await broadcast(bare.ingest_key, said);
    expect([status, body]).toEqual([
      201,
      {
        ...said,
        book_id: bare.book_id,
        task_id: expect.stringMatching(/^task_[0-9a-z]{26}$/),
        verify_url: `${service.url}/receipt/${body.task_id}`,
        verified_with: null,
        look_up: 'no_key',
        idempotent_replay: false,
        reported_at: expect.any(String),
        attestation_note: NOT_SETTLED_HERE,
      },
    ]);
    const receipt = await receiptOf(body.task_id);
    const { model, ...reported } = said;
    expect(receipt).toMatchObject({
      hub: 'router',
      model,
      proof_outcome: 'none',
      settled_by: null,
      payment_ref: null,
      caller_binding: {},
      reported: { by: bare.book_id, ...reported },
      payload: { job_kind: 'router_broadcast', payload_version: 11, reported: { by: bare.book_id, ...reported } },
    });
    const args = { ...reported, by: bare.book_id, model };
    expect((receipt.payload as JsonObject).request_hash).toBe(
      canonicalHash({ field: 'Mutation.broadcastGeneration', args: args as JsonObject }),
    );
    for (const name of ['amount', 'payer_wallet', 'claim_id', 'waived_by', 'local_check'])
      expect(receipt).not.toHaveProperty(name);
    for (const name of ['payment', 'settlement_basis']) expect(receipt.payload).not.toHaveProperty(name);
    expect(verifyReceipt(receipt, await service.jwks())).toMatchObject({ kind: 'valid', claim_id: 'none' });
    const audit = (await service.get(`/receipt/${body.task_id}?format=auditor`)).body;
    expect(verify(audit, null).fault).toBeNull();
    const proof = (await service.get(`/prove-result?task_id=${body.task_id}&requested=true`)).body;
    for (const { does_not_prove } of [audit, proof])
      expect(does_not_prove).toContain(`That what was reported is so. ${NOT_SETTLED_HERE}`);
    expect((receipt.verification as JsonObject).how).toContain(NOT_SETTLED_HERE);
    const page = await service.knock('GET', `/receipt/${body.task_id}`, { headers: { accept: 'text/html' } });
    expect(page.text).toContain('Nothing was paid to this service');
  });

  it('200 for the same again: the same receipt and no leaf more; 409 for other facts under its id', async () => {
    const said = report();
    const { body: first } = await broadcast(bare.ingest_key, said);
    const before = await receipts();
    const { status, body } = await broadcast(bare.ingest_key, said);
    expect([status, body]).toEqual([200, { ...first, idempotent_replay: true }]);
    const others: JsonObject[] = [{ model: 'other' }, { amount: '1' }, { rail: 'usdc' }, { payment_ref: 'x' }];
    for (const other of others)
      expect(await broadcast(bare.ingest_key, { ...said, ...other })).toMatchObject({
        status: 409,
        body: { code: 'generation_conflict', task_id: first.task_id, error: { param: 'generation_id' } },
      });
    expect(await receipts()).toBe(before);
    const elsewhere = await broadcast(keyed.ingest_key, said);
    expect([elsewhere.status, elsewhere.body.task_id === first.task_id]).toEqual([201, false]);
  });

  it('100 at once of one generation: one receipt, and one of them 201', async () => {
    const before = Number(await receipts());
    const said = report();
    const answers = await Promise.all(Array.from({ length: 100 }, () => broadcast(bare.ingest_key, said)));
    expect(new Set(answers.map(({ body }) => body.task_id)).size).toBe(1);
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(99).fill(200), 201]);
    expect(await receipts()).toBe(before + 1);
  });

  it('401 without a key, 403 with a wrong one, empty; an ingest key is no API key', async () => {
    const post = (headers: Readonly<Record<string, string>>) => service.post('/v1/router/broadcast', report(), headers);
    const wrong = [`${bare.ingest_key.slice(0, -1)}x`, 'svcr_', `${bare.ingest_key}0`];
    for (const [status, headers] of [
      [401, {}],
      [401, { 'X-SVC-Session': agent.session }],
      [401, bearer('a-live-key')],
      ...wrong.map(key => [403, bearer(key)] as const),
    ] as const) {
      const answer = await post(headers);
      expect([answer.status, answer.text]).toEqual([status, '']);
    }
    expect(await service.post('/v1/chat/completions', {}, bearer(bare.ingest_key))).toMatchObject({ status: 402 });
  });

  it.each<[param: string, member: unknown]>([
    ['generation_id', ''],
    ['generation_id', 'two words'],
    ['generation_id', 'g'.repeat(129)],
    ['model', 'm'.repeat(201)],
    ['amount', 1250],
    ['amount', '0.00125'],
    ['amount', '-1'],
    ['amount', '01'],
    ['rail', 'Credits'],
    ['rail', 'r'.repeat(33)],
    ['payment_ref', 'p'.repeat(257)],
    ['payment_ref', 'a\0b'],
    ['verified_with', 'me'],
  ])('400 for a %s of %j', async (param, member) => {
    const { status, body } = await broadcast(bare.ingest_key, report({ [param]: member } as JsonObject));
    expect([status, body]).toMatchObject([400, { code: 'invalid_request', error: { param } }]);
  });

  it('413 and 415 as anywhere', async () => {
    const post = (body: string, type: string) =>
      service.post('/v1/router/broadcast', body, { ...bearer(bare.ingest_key), 'content-type': type });
    expect((await post('x'.repeat(2_000_000), 'application/json')).status).toBe(413);
    expect((await post('{}', 'text/plain')).status).toBe(415);
  });

  it('on the book of an agent: a row UNVERIFIED, without an amount, outside its totals; nothing can rest on it', async () => {
    const { agent_id, session } = agent;
    const headers = { 'X-SVC-Session': session };
    const { body: book } = await open({ agent_id }, headers);
    await setKey(book.book_id, 'sk-or-key', bearer(book.ingest_key));
    const shown = async () => (await service.get(`/v1/agents/${agent_id}/book`, headers)).body;
    const { totals } = await shown();
    const { body: told } = await broadcast(book.ingest_key, report({ payment_ref: 'base:0x1', rail: 'usdc' }));
    expect(told.verified_with).toBe(router.host);
    const after = await shown();
    expect(after.totals).toEqual(totals);
    expect((after.entries as JsonObject[])[0]).toMatchObject({
      task_id: told.task_id,
      evidence: 'UNVERIFIED',
      collected: false,
      payment: { ref: null, rail: null, amount: null },
      route: { model: 'some/model', hub: 'router' },
      fulfillment: { job_kind: 'router_broadcast' },
    });
    const receipt = await receiptOf(told.task_id);
    expect(receipt).toMatchObject({ claim_id: agent_id, reported: { verified_with: router.host } });
    expect(verifyReceipt(receipt, await service.jwks())).toMatchObject({ kind: 'valid', claim_id: agent_id });
    const path = `/v1/agents/${agent_id}/book`;
    expect(await service.post(`${path}/escrow`, { action: 'open', task_id: told.task_id }, headers)).toMatchObject({
      status: 400,
      body: { code: 'escrow_not_collected' },
    });
    const dispute = { task_id: told.task_id, claim_type: 'output_missing' };
    expect((await service.post(`${path}/dispute`, dispute, headers)).body).toMatchObject({ outcome: 'stand' });
    const wallet = await service.chain.newWallet();
    const registration = await registrationOf(wallet, { task_id: told.task_id });
    expect(await service.post(REGISTER, registration)).toMatchObject({
      status: 403,
      body: { code: 'receipt_not_qualifying' },
    });
  });
});

describe('429 with Retry-After', () => {
  const full = (holder: string, uses: number) =>
    service.query(`update router_use set uses = ${uses} where holder like '${holder}'`);

  it('for the unverified of a book, and of an address; what is verified goes on', async () => {
    const max = routerLimits.unverified_per_book_day_max;
    await broadcast(bare.ingest_key, report());
    for (const holder of [`unverified:${bare.book_id}`, 'unverified:%']) {
      await full('unverified:%', 0);
      await full(holder, max - 1);
      const before = Number(await receipts());
      const answers = await Promise.all([1, 2, 3, 4].map(() => broadcast(bare.ingest_key, report())));
      expect(answers.map(({ status }) => status).sort()).toEqual([201, 429, 429, 429]);
      expect(await receipts()).toBe(before + 1);
      const refused = answers.find(({ status }) => status === 429);
      expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(refused?.body).toMatchObject({ code: 'rate_limited' });
    }
    expect(await broadcast(keyed.ingest_key, report())).toMatchObject({ status: 201, body: { look_up: 'matched' } });
    router.answerWithCost({ ...TOLD, cost: '2' });
    const said = report();
    expect((await broadcast(keyed.ingest_key, said)).status).toBe(429);
    await service.query('delete from router_use');
    expect((await broadcast(keyed.ingest_key, said)).status).toBe(201);
  });

  it('for the books of an address', async () => {
    await open();
    await full('books:%', routerLimits.books_per_address_day_max - 1);
    const answers = await Promise.all([1, 2, 3].map(() => open()));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 429, 429]);
  });
});

describe('503, and nothing of it stands', () => {
  const generations = async () => (await service.query('select count(*)::int as n from router_generation'))[0];

  it('on a book of an agent that its audit has closed', async () => {
    const other = await service.newAgent();
    const headers = { 'X-SVC-Session': other.session };
    const { body: book } = await open({ agent_id: other.agent_id }, headers);
    await service.query(`update book set damage = '{}' where agent_id = ${other.agent_id}`);
    const before = [await receipts(), await generations()];
    expect(await broadcast(book.ingest_key, report())).toMatchObject({ status: 503, body: { code: 'book_damaged' } });
    expect([await receipts(), await generations()]).toEqual(before);
    await service.query(`update book set damage = null where agent_id = ${other.agent_id}`);
  });

  it('where the log is halted: it goes last, since that is for good', async () => {
    const said = report();
    await broadcast(bare.ingest_key, said);
    const before = [await receipts(), await generations()];
    const head = { tree_size: 1, root_hash: '0'.repeat(64) };
    const halt = JSON.stringify({ known: head, found: head, at: new Date().toISOString(), by: 'a test' });
    await service.query(`update log_head set halted = '${halt}'`);
    for (const body of [report(), said])
      expect(await broadcast(bare.ingest_key, body)).toMatchObject({ status: 503, body: { code: 'unavailable' } });
    expect([await receipts(), await generations()]).toEqual(before);
  });
});
