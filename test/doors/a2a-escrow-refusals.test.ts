import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { escrowLimits } from '../../schema/limits.ts';
import { CLAIM, escrowDoorsOf, escrowPair } from '../harness/doors/escrows.ts';
import { type Service, sharedService } from '../harness/doors/open-service.ts';

/* Reasons for which a step of an escrow between two agents is refused. */

type Agent = Awaited<ReturnType<Service['newAgent']>>;

let service: Service;
let pair: Awaited<ReturnType<typeof escrowPair>>;
let principal: Agent;
let counterparty: Agent;
let stranger: Agent;
beforeAll(async () => {
  service = await sharedService();
  pair = await escrowPair(service);
  ({ principal, counterparty, stranger } = pair);
});

const { a2a, opened } = escrowDoorsOf(() => service);

describe('POST /v1/agents/{agent_id}/book/a2a-escrow', () => {
  it('400 on an action that there is none of, or that is not this party’s now, with those that are', async () => {
    await pair.funded('illegal');
    const submission = await pair.submission();
    expect(await a2a(principal, 'burn', { job_id: 'illegal' })).toMatchObject({
      status: 400,
      body: {
        code: 'invalid_escrow_action',
        legal: ['open', 'fund', 'submit', 'release', 'clawback', 'challenge', 'status'],
      },
    });
    for (const [agent, action, legal] of [
      [principal, 'release', ['clawback', 'status']],
      [counterparty, 'release', ['submit', 'clawback', 'status']],
      [principal, 'submit', ['clawback', 'status']],
    ] as const) {
      const body = { job_id: 'illegal', ...(action === 'submit' ? submission : {}) };
      expect(await a2a(agent, action, body)).toMatchObject({
        status: 400,
        body: { code: 'invalid_escrow_action', state: 'funded', legal },
      });
    }
    expect(await a2a(principal, 'clawback', { job_id: 'illegal' })).toMatchObject({
      status: 400,
      body: { code: 'escrow_claim_required' },
    });
    const parties = { principal_agent_id: principal.agent_id, counterparty_agent_id: counterparty.agent_id };
    const terms = { job_spec_hash: 'ab'.repeat(32), amount: '1', parties };
    expect(await a2a(counterparty, 'open', terms)).toMatchObject({
      status: 400,
      body: { code: 'invalid_escrow_action' },
    });
    await a2a(counterparty, 'clawback', { job_id: 'illegal' });
  });

  it('400 where a check of the release fails: the kind of a hash is never read off its form', async () => {
    await pair.funded('checks');
    const name = { job_id: 'checks' };
    const submission = await pair.submission();
    const hash = submission.output_commitment.split(':')[1] ?? '';
    for (const bare of [hash, `0x${hash}`, `md5:${hash}`, `sha256:${hash}00`])
      expect(await a2a(counterparty, 'submit', { ...name, ...submission, output_commitment: bare })).toMatchObject({
        status: 400,
        body: { code: 'invalid_request', error: { param: 'output_commitment' } },
      });
    const output_commitment = `keccak256:0x${hash.toUpperCase()}`;
    const shown = await a2a(counterparty, 'submit', { ...name, ...submission, output_commitment });
    expect(shown.body.output_commitment).toBe(`keccak256:${hash}`);
    expect(await a2a(principal, 'release', name)).toMatchObject({
      status: 400,
      body: {
        code: 'escrow_checks_failed',
        checks: [{ passed: true }, { passed: true }, { passed: true }, { check: 'output_commitment', passed: false }],
      },
    });
    expect((await a2a(principal, 'status', name)).body.state).toBe('submitted');
    await a2a(counterparty, 'clawback', name);
  });

  it.each<[string, JsonObject, string]>([
    ['a spec hash of another length', { job_spec_hash: 'ab' }, 'job_spec_hash'],
    ['an amount of nothing', { amount: '0' }, 'amount'],
    ['no counterparty', { parties: {} }, 'parties.counterparty_agent_id'],
    ['a party that there is none of', { parties: { counterparty_agent_id: 2, arbiter: 3 } }, 'parties'],
    ['a job id with a blank', { job_id: 'a b' }, 'job_id'],
    ['a required output without its kind', { required: { output_hash: 'ab'.repeat(32) } }, 'required.output_hash'],
    [
      'a requirement that there is none of',
      { required: { output_hash: `sha256:${'ab'.repeat(32)}`, proof_tier: 'settlement' } },
      'required',
    ],
    ['an end too far ahead', { expires_at: '2099-01-01' }, 'expires_at'],
    ['a member of another action', { task_id: 'task' }, 'task_id'],
  ])('400 on %s, with its name', async (_, members, param) => {
    const parties = { counterparty_agent_id: counterparty.agent_id };
    const body = { job_spec_hash: 'ab'.repeat(32), amount: '1', parties, ...members };
    expect(await a2a(principal, 'open', body)).toMatchObject({
      status: 400,
      body: { code: 'invalid_request', error: { param } },
    });
  });

  it('404 to whoever is no party, of a receipt of neither, of a payment of another book, and of no such agent', async () => {
    await pair.funded('parties');
    const submission = await pair.submission();
    const parties = { principal_agent_id: principal.agent_id, counterparty_agent_id: counterparty.agent_id };
    for (const [action, members] of [
      ['status', {}],
      ['release', {}],
      ['clawback', CLAIM],
      ['challenge', CLAIM],
      ['submit', submission],
      ['fund', { task_id: stranger.task_id }],
    ] as const)
      for (const named of [{}, { parties }] as const satisfies readonly JsonObject[]) {
        const body: JsonObject = { job_id: 'parties', ...(named as JsonObject), ...members };
        expect(await a2a(stranger, action, body)).toMatchObject({
          status: 404,
          body: {
            code: 'escrow_not_found',
            detail: 'The agent has no escrow with this `escrow_id`, `task_id` or `job_id`.',
          },
        });
      }
    expect(await a2a(stranger, 'status', { job_id: 'none' })).toMatchObject({
      status: 404,
      body: {
        code: 'escrow_not_found',
        detail: 'The agent has no escrow with this `escrow_id`, `task_id` or `job_id`.',
      },
    });
    const other = { ...submission, fulfillment_receipt_id: stranger.task_id };
    expect(await a2a(counterparty, 'submit', { job_id: 'parties', ...other })).toMatchObject({
      status: 404,
      body: { code: 'not_found', error: { param: 'fulfillment_receipt_id' } },
    });
    await pair.open('unpaid');
    expect(await a2a(principal, 'fund', { job_id: 'unpaid', task_id: counterparty.task_id })).toMatchObject({
      status: 404,
      body: { code: 'not_found', error: { param: 'task_id' } },
    });
    const terms = { job_spec_hash: 'ab'.repeat(32), amount: '1', parties: { counterparty_agent_id: 999_999 } };
    expect(await a2a(principal, 'open', terms)).toMatchObject({ status: 404, body: { code: 'not_found' } });
    for (const job_id of ['parties', 'unpaid']) await a2a(principal, 'clawback', { job_id, ...CLAIM });
  });

  it('409 on a job that stands otherwise, on a payment that has backed another, and beyond so many; 400 on too small a one', async () => {
    const task_id = await pair.funded('first');
    const parties = { counterparty_agent_id: counterparty.agent_id };
    const terms = { job_spec_hash: 'cd'.repeat(32), amount: '2000', parties };
    expect(await a2a(principal, 'open', { job_id: 'first', ...terms })).toMatchObject({
      status: 409,
      body: { code: 'escrow_exists' },
    });
    await pair.open('second');
    expect(await a2a(principal, 'fund', { job_id: 'second', task_id })).toMatchObject({
      status: 409,
      body: { code: 'escrow_backing_used' },
    });
    await pair.open('dear', { amount: '2001' });
    expect(await a2a(principal, 'fund', { job_id: 'dear', task_id: await pair.payment() })).toMatchObject({
      status: 400,
      body: { code: 'escrow_not_collected' },
    });
    const busy = await service.newAgent();
    for (let index = 0; index < escrowLimits.live_per_pair_max; index++)
      await opened(busy, counterparty, `job-${index}`);
    expect(await a2a(busy, 'open', { job_id: 'one-more', ...terms })).toMatchObject({
      status: 409,
      body: { code: 'escrows_full' },
    });
  });

  it('400 on a delivery whose receipt is older than the escrow, or commits to another output than is required', async () => {
    const older = await pair.submission();
    await pair.funded('older');
    const refused = await a2a(counterparty, 'submit', { job_id: 'older', ...older });
    expect(refused).toMatchObject({
      status: 400,
      body: {
        code: 'escrow_checks_failed',
        detail: 'The delivery is not accepted. Failed checks: collected_at.',
        error: { param: 'fulfillment_receipt_id' },
        checks: [{ check: 'collected_at', passed: false }],
      },
    });
    await a2a(counterparty, 'clawback', { job_id: 'older' });
    const output_hash = `sha256:${'0'.repeat(64)}`;
    await pair.funded('required', { required: { output_hash } });
    const submission = await pair.submission();
    for (const [output_commitment, told] of [
      [submission.output_commitment, false],
      [output_hash, true],
    ] as const)
      expect(await a2a(counterparty, 'submit', { job_id: 'required', ...submission, output_commitment })).toMatchObject(
        {
          status: 400,
          body: {
            code: 'escrow_checks_failed',
            checks: [
              { check: 'collected_at', passed: true },
              { check: 'output_hash', passed: false, wanted: output_hash, found: submission.output_commitment },
              { check: 'output_commitment', passed: told, wanted: output_hash, found: output_commitment },
            ],
          },
        },
      );
    await a2a(counterparty, 'clawback', { job_id: 'required' });
    // Terms that require an output differ from terms that require none.
    await pair.open('asks-again', { required: { output_hash: submission.output_commitment } });
    const parties = { counterparty_agent_id: counterparty.agent_id };
    const otherwise = { job_spec_hash: 'ab'.repeat(32), amount: '2000', parties };
    expect(await a2a(principal, 'open', { job_id: 'asks-again', ...otherwise })).toMatchObject({
      status: 409,
      body: { code: 'escrow_exists' },
    });
    await a2a(principal, 'clawback', { job_id: 'asks-again' });
  });

  it('409 on a receipt that was submitted for another escrow, of another principal too, and also once that was clawed back', async () => {
    const other = await service.newAgent();
    await opened(other, counterparty, 'also');
    expect((await a2a(other, 'fund', { job_id: 'also', task_id: other.task_id })).status).toBe(201);
    await pair.funded('later');
    // The receipt is newer than both escrows, so it is refused only because the other escrow has used it.
    const shared = await pair.submission();
    expect((await a2a(counterparty, 'submit', { job_id: 'later', ...shared })).status).toBe(200);
    const used = { status: 409, body: { code: 'escrow_fulfillment_used', error: { param: 'fulfillment_receipt_id' } } };
    expect(await a2a(counterparty, 'submit', { job_id: 'also', ...shared })).toMatchObject(used);
    await a2a(counterparty, 'clawback', { job_id: 'later' });
    expect(await a2a(counterparty, 'submit', { job_id: 'also', ...shared })).toMatchObject(used);
    expect((await a2a(counterparty, 'status', { job_id: 'also' })).body.state).toBe('funded');
    await a2a(counterparty, 'clawback', { job_id: 'also' });
  });

  it('503 where either book is closed, and nothing stands on the other', async () => {
    await pair.funded('closed');
    // The counterparty's book takes part from its first step on.
    await a2a(counterparty, 'submit', { job_id: 'closed', ...(await pair.submission()) });
    const before = (await pair.book(principal)).entries.length;
    const damage = (what: string | null) =>
      service.query('update book set damage = $2::jsonb where agent_id = $1', [counterparty.agent_id, what]);
    await damage('{"what":"row_missing","place":1}');
    expect(await a2a(principal, 'release', { job_id: 'closed' })).toMatchObject({
      status: 503,
      body: { code: 'book_damaged' },
    });
    await damage(null);
    expect((await pair.book(principal)).entries.length).toBe(before);
    expect((await a2a(principal, 'release', { job_id: 'closed' })).status).toBe(200);
  });
});
