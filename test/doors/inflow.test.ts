import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { inflowLimits } from '../../schema/limits.ts';
import { verifyInflowClaim } from '../../subgraphs/receipt/verify/inflow-claim.ts';
import { runCommand } from '../harness/commands/run.ts';
import { type ClaimSigner, inflowDoorsOf, signedBy } from '../harness/doors/inflows.ts';
import { onGraph } from '../harness/doors/on-graph.ts';
import { ask, type Service, sharedService } from '../harness/doors/open-service.ts';
import { ownFolder } from '../harness/scratch.ts';
import { openWallets } from '../harness/wallets.ts';

type Agent = Awaited<ReturnType<Service['newAgent']>>;

let service: Service;
let agent: Agent;
let stranger: Agent;
beforeAll(async () => {
  service = await sharedService();
  [agent, stranger] = [await service.newAgent(), await service.newAgent()];
});

const { book, record, correct, entries } = inflowDoorsOf(() => service);
const allocation = '2500000';
/** A claim that the agent's wallet has signed. */
const claimOf = (of: Agent, members: JsonObject = {}, by: ClaimSigner = of.account) =>
  signedBy(by, 'inflow', {
    iss: service.url,
    agent_id: of.agent_id,
    bucket: 'patron',
    allocation,
    signed_at: new Date().toISOString(),
    ...members,
  });

describe('POST /v1/agents/{agent_id}/book/inflow', () => {
  it('201 with the row: a claim in the bucket `patron`, no payment, no amount', async () => {
    const { status, body } = await record(agent, { allocation });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      evidence: 'inflow_claimed',
      collected: false,
      payer_wallet: null,
      bucket: 'patron',
      allocation,
      inflow_corrections: [],
      inflow_claim: { schema: 'svc402.inflow_claim.v1', agent_id: agent.agent_id, bucket: 'patron', allocation },
    });
    expect(body.task_id).toMatch(/^task_[0-9a-z]{26}$/);
    expect(JSON.stringify(body.inflow_claim)).not.toContain('payment');
    expect((body as unknown as { payment: JsonObject }).payment).toEqual({ ref: null, rail: null, amount: null });
    expect((await entries(agent))[0]).toEqual(body);
  });

  it('201 with all that may be said, under an id of its own', async () => {
    const said = { bucket: 'research', task_id: 'invoice:2026.1', model: 'alpha-1', hub: 'alpha' };
    const { status, body } = await record(agent, { allocation: '1', ...said });
    expect({ status, body }).toMatchObject({
      status: 201,
      body: { task_id: 'invoice:2026.1', bucket: 'research', route: { model: 'alpha-1', hub: 'alpha' } },
    });
    expect(body.inflow_claim).toMatchObject({ ...said, allocation: '1' });
  });

  it('201 leaves totals, spent and remaining as they were', async () => {
    const own = await service.newAgent();
    const money = async () => {
      const { body } = await service.post(book(own, ''), { session: own.session, budget: '1000000' });
      const { totals, spent, remaining } = body;
      return { totals, spent, remaining };
    };
    const before = await money();
    await record(own, { allocation: '999999999999' });
    expect(await money()).toEqual(before);
  });

  it('201 with a claim that anybody verifies offline, and nobody alters', async () => {
    const { body } = await record(agent, { allocation });
    const claim = body.inflow_claim ?? {};
    expect(verifyInflowClaim(claim, await service.jwks())).toMatchObject({
      kind: 'valid',
      claims: { task_id: body.task_id },
    });
    for (const [name, value] of [
      ['allocation', '2500001'],
      ['bucket', 'other'],
      ['payment_ref', 'base:0x01'],
    ] as const)
      expect(verifyInflowClaim({ ...claim, [name]: value }, await service.jwks())).toMatchObject({
        kind: 'invalid',
        code: 'signature_invalid',
      });
    const { signature: _, ...unsigned } = claim;
    expect(verifyInflowClaim(unsigned, await service.jwks())).toMatchObject({ kind: 'invalid', code: 'malformed' });
  });

  it('npm run verify: says of a row that its claim is valid, and of one that was touched what is wrong', async () => {
    const { body } = await record(agent, { allocation });
    const file = join(await ownFolder(), 'inflow.json');
    const verify = async (document: unknown) => {
      await writeFile(file, JSON.stringify(document));
      return runCommand('gateway/commands/verify.ts', [file]);
    };
    expect(await verify(body)).toMatchObject({ code: 0, text: expect.stringContaining(`Valid: ${body.task_id}`) });
    const touched = { ...body.inflow_claim, allocation: '1' };
    expect(await verify(touched)).toMatchObject({ code: 1, text: expect.stringContaining('(signature_invalid)') });
  });

  it('201 with a claim that the wallet signed beforehand, which stands in the one that is signed here', async () => {
    const claim = await claimOf(agent, { task_id: 'signed-1' });
    const { status, body } = await record(agent, { allocation, inflow_claim: claim });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      task_id: 'signed-1',
      inflow_claim: { wallet: agent.account.address, wallet_claim: claim },
    });
    const verified = verifyInflowClaim(body.inflow_claim ?? {}, await service.jwks());
    expect(verified).toMatchObject({ kind: 'valid' });
    expect(JSON.stringify(verified)).not.toContain('ERC-1271');
  });

  it('201 with a claim that a contract wallet takes for its own (ERC-1271)', async () => {
    const wallets = openWallets(service.chain);
    const owner = await service.newAgent();
    const contract = await wallets.plain();
    await service.query('update agent set wallet = $2 where agent_id = $1', [owner.agent_id, contract.address]);
    const claim = await claimOf(owner, {}, contract);
    const { status, body } = await record(owner, { allocation, inflow_claim: claim });
    expect(status).toBe(201);
    const verified = verifyInflowClaim(body.inflow_claim ?? {}, await service.jwks());
    expect(verified).toMatchObject({ kind: 'valid' });
    expect(JSON.stringify(verified)).toContain('ERC-1271');
  });

  it.each<[string, string, JsonObject]>([
    ['without an allocation', 'allocation', {}],
    ['with an allocation that is no string of digits', 'allocation', { allocation: '1.5' }],
    ['with an allocation that is a number', 'allocation', { allocation: 1 }],
    ['with a negative allocation', 'allocation', { allocation: '-1' }],
    ['with an empty bucket', 'bucket', { allocation, bucket: '' }],
    ['with a bucket that is too long', 'bucket', { allocation, bucket: 'b'.repeat(inflowLimits.bucket_chars_max + 1) }],
    ['with a task_id that fits in no path', 'task_id', { allocation, task_id: 'a/b' }],
    ['with U+0000 in it', 'model', { allocation, model: '\0' }],
    ['with a member that is not known', 'buckte', { allocation, buckte: 'patron' }],
    ['with a claim that is none', 'inflow_claim', { allocation, inflow_claim: 'signed' }],
    ['with a claim without a signature', 'inflow_claim.signature', { allocation, inflow_claim: { agent_id: 1 } }],
  ])('400 %s, and nothing is written', async (_, param, body) => {
    const before = (await entries(agent)).length;
    const heard = await record(agent, body);
    expect(heard.status).toBe(400);
    const named = (heard.body as unknown as { error: { param: string } }).error.param;
    expect(named.startsWith(param.split('.')[0] ?? '')).toBe(true);
    expect((await entries(agent)).length).toBe(before);
  });

  it('403 on a claim by another wallet, on one that says otherwise, and on one from the future', async () => {
    const before = (await entries(agent)).length;
    const good = await claimOf(agent, { task_id: 'signed-2' });
    const ahead = new Date(Date.now() + 120_000).toISOString();
    const cases: [member: string, body: JsonObject][] = [
      ['signature', { inflow_claim: await claimOf(agent, {}, stranger.account) }],
      ['signature', { inflow_claim: { ...good, signature: `0x${'11'.repeat(65)}` } }],
      ['signature', { inflow_claim: { ...good, signed_at: new Date(0).toISOString() } }],
      ['agent_id', { inflow_claim: await claimOf(stranger) }],
      ['iss', { inflow_claim: await claimOf(agent, { iss: 'https://another.example' }) }],
      ['allocation', { allocation: '1', inflow_claim: good }],
      ['bucket', { bucket: 'other', inflow_claim: good }],
      ['task_id', { task_id: 'other', inflow_claim: good }],
      ['signed_at', { inflow_claim: await claimOf(agent, { signed_at: ahead }) }],
    ];
    for (const [member, body] of cases)
      expect(await record(agent, { allocation, ...body })).toMatchObject({
        status: 403,
        body: { code: 'inflow_claim_invalid', error: { param: `inflow_claim.${member}` } },
      });
    expect((await entries(agent)).length).toBe(before);
  });

  it('409 on a task that stands anywhere: as an inflow, a paid call, a receipt without a book', async () => {
    await record(agent, { allocation, task_id: 'once' });
    const bought = (await service.buy(stranger.account)).body.svc.task_id;
    const bookless = (await service.buy(await service.chain.newWallet(), ask('No book'))).body.svc.task_id;
    for (const task_id of ['once', bought, bookless, agent.task_id])
      for (const owner of [agent, stranger])
        expect(await record(owner, { allocation, task_id })).toMatchObject({
          status: 409,
          body: { code: 'duplicate_task', error: { param: 'task_id' } },
        });
  });

  it('409 to all but one of those who come at once, on two books', async () => {
    const heard = await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        record(index % 2 === 0 ? agent : stranger, { allocation, task_id: 'at-once' }),
      ),
    );
    expect(heard.map(({ status }) => status).sort()).toEqual([201, ...Array.from({ length: 11 }, () => 409)]);
    expect(await service.query(`select 1 from book_row where task_id = 'at-once'`)).toHaveLength(1);
  });

  it('409 on a signed claim that has served, also where it names no task', async () => {
    const claim = await claimOf(agent, { bucket: 'unnamed' });
    const body = { allocation, inflow_claim: claim };
    expect((await record(agent, body)).status).toBe(201);
    expect(await record(agent, body)).toMatchObject({ status: 409, body: { code: 'duplicate_task' } });
  });

  it('429 beyond so many in an hour, corrections included; another book is not held up', async () => {
    const busy = await service.newAgent();
    const { body: first } = await record(busy, { allocation });
    const correction = (reason: string) => correct(busy, { task_id: first.task_id ?? '', reason });
    const statuses: number[] = [];
    for (let at = 0; at < inflowLimits.rows_per_book_hour_max; at += 20) {
      const some = Array.from({ length: 20 }, (_, index) => correction(`Correction ${at + index}.`));
      statuses.push(...(await Promise.all(some)).map(({ status }) => status));
    }
    const refused = statuses.filter(status => status === 429);
    expect([statuses.length, refused.length]).toEqual([inflowLimits.rows_per_book_hour_max, 1]);
    const heard = await record(busy, { allocation });
    expect(heard).toMatchObject({ status: 429, body: { code: 'rate_limited' } });
    // A replay of a recorded correction does not count against the limit.
    expect(await correction('Correction 0.')).toMatchObject({ status: 200, body: { idempotent_replay: true } });
    const wait = Number(heard.headers.get('retry-after'));
    expect(wait).toBeGreaterThan(3_000);
    expect(wait).toBeLessThanOrEqual(3_600);
    expect((await record(agent, { allocation })).status).toBe(201);
  });

  it('503 on a book that its audit has closed', async () => {
    const own = await service.newAgent();
    await service.query(`update book set damage = '{"what":"row_missing","place":1}' where agent_id = $1`, [
      own.agent_id,
    ]);
    expect(await record(own, { allocation })).toMatchObject({ status: 503, body: { code: 'book_damaged' } });
  });
});

describe('GraphQL recordInflow', () => {
  const RECORD = `mutation ($agentId: Int!, $input: InflowInput!) { recordInflow(agentId: $agentId, input: $input) {
    taskId bucket allocation inflowClaim inflowCorrections payment { ref amount } route { model } } }`;

  it('is the same row as the door, and refuses what the door refuses', async () => {
    const { agent_id: agentId, session } = agent;
    const claim = await claimOf(agent, { bucket: 'by-graph' });
    const { data } = await onGraph(
      service,
      RECORD,
      { agentId, input: { allocation, model: 'm', inflowClaim: claim } },
      session,
    );
    expect(data?.recordInflow).toMatchObject({
      bucket: 'by-graph',
      allocation,
      inflowClaim: { wallet_claim: claim },
      inflowCorrections: [],
      payment: { ref: null, amount: null },
      route: { model: 'm' },
    });
    const refused = async (input: JsonObject) =>
      (await onGraph(service, RECORD, { agentId, input }, session)).errors?.[0]?.extensions.code;
    expect(await refused({ allocation, taskId: 'a/b' })).toBe('invalid_request');
    expect(await refused({ allocation, inflowClaim: claim })).toBe('duplicate_task');
    expect(await refused({ allocation, inflowClaim: { ...claim, agent_id: 0 } })).toBe('inflow_claim_invalid');
  });
});

describe('an export', () => {
  it('shows bucket, claim and corrections as JSON and as CSV, and the journal none of them', async () => {
    const own = await service.newAgent();
    const { body: row } = await record(own, { allocation, bucket: 'audit' });
    await correct(own, { task_id: row.task_id ?? '', reason: 'a typo', allocation: '7' });
    const headers = { 'X-SVC-Session': own.session };
    const { body } = await service.get<{ rows: JsonObject[]; totals: JsonObject }>(
      book(own, '/export?format=json'),
      headers,
    );
    const exported = body.rows.find(({ task_id }) => task_id === row.task_id);
    expect(exported).toMatchObject({
      evidence: 'inflow_claimed',
      amount: null,
      payment_ref: null,
      bucket: 'audit',
      inflow_claim: row.inflow_claim,
      inflow_corrections: [{ reason: 'a typo', allocation: '7' }],
      inflow_corrections_count: 1,
      verify_url: null,
      auditor_url: null,
    });
    expect(body.totals.count).toBe(1);
    const { text } = await service.get(book(own, '/export?format=csv'), headers);
    expect(text).toContain('a typo');
    expect(text.split('""schema"":""svc402.inflow_claim.v1""').length).toBeGreaterThan(2);
    // An amount that was set aside is not spent, so no entry contains it.
    const journal = (await service.get(book(own, '/export/journal?per=row'), headers)).text;
    expect(journal).toContain(own.task_id);
    expect(journal).not.toContain(row.task_id);
  });
});
