import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { disputeLimits, routerLimits, sliceLimits, webhookLimits } from '../../schema/limits.ts';
import { type Service, sharedService } from '../harness/doors/open-service.ts';

/*
 * Limits that are counted before a write hold for simultaneous requests, because the count is made under a lock or in the same statement.
 */

const AT_ONCE = 60;

let service: Service;
let agent: Awaited<ReturnType<Service['newAgent']>>;
let task_id: string;
beforeAll(async () => {
  service = await sharedService();
  agent = await service.newAgent();
  task_id = (await service.buy(agent.account)).body.svc.task_id;
});

const book = (beneath: string) => `/v1/agents/${agent.agent_id}/book${beneath}`;

/** Sends that many requests at once. Returns the number of answers by status and code. */
async function countAnswers(path: () => string, body: (index: number) => JsonObject): Promise<Record<string, number>> {
  const headers = { 'X-SVC-Session': agent.session };
  const asked = Array.from({ length: AT_ONCE }, (_, index) => service.post<JsonObject>(path(), body(index), headers));
  const answers = (await Promise.all(asked)).map(({ status, body: { code } }) => [status, code ?? []].flat().join(' '));
  return Object.fromEntries([...Map.groupBy(answers, answer => answer)].map(([answer, all]) => [answer, all.length]));
}

describe(`${AT_ONCE} requests at once`, () => {
  it('POST …/assign: as many live assignments as a book may have, and 409', async () => {
    const max = sliceLimits.live_per_book_max;
    expect(
      await countAnswers(
        () => book('/assign'),
        index => ({ grantee: `grantee ${index}` }),
      ),
    ).toEqual({
      201: max,
      '409 assignments_full': AT_ONCE - max,
    });
  });

  it('POST …/dispute: one claim of one row with as many kinds of evidence as may be, and 409', async () => {
    const max = disputeLimits.per_claim_max;
    const claim = (index: number) => ({ task_id, claim_type: 'output_missing', evidence: { note: `${index}` } });
    expect(await countAnswers(() => book('/dispute'), claim)).toEqual({ 201: max, '409 disputes_full': AT_ONCE - max });
  });

  it('POST …/webhook: as many changes as an hour takes, and 429', async () => {
    const max = webhookLimits.changes_per_hour_max;
    expect(
      await countAnswers(
        () => book('/webhook'),
        index => ({ url: `https://example.com/${index}` }),
      ),
    ).toEqual({
      200: max,
      '429 rate_limited': AT_ONCE - max,
    });
  });

  it('POST /v1/router/books: as many books as an address opens in a day, and 429', async () => {
    const max = routerLimits.books_per_address_day_max;
    expect(
      await countAnswers(
        () => '/v1/router/books',
        index => ({ label: `book ${index}` }),
      ),
    ).toEqual({
      201: max,
      '429 rate_limited': AT_ONCE - max,
    });
  });

  it('POST …/inflow with one task_id: one row, and 409', async () => {
    expect(
      await countAnswers(
        () => book('/inflow'),
        () => ({ allocation: '10', task_id: 'raced_for' }),
      ),
    ).toEqual({
      201: 1,
      '409 duplicate_task': AT_ONCE - 1,
    });
  });
});
