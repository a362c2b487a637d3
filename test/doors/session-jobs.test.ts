import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { JOBS, openJobs } from '../harness/board/jobs.ts';
import { paymentFor } from '../harness/buyer.ts';
import { ask, CHAT } from '../harness/doors/open-service.ts';
import { type DelegatedSession, delegate } from '../harness/session/delegate.ts';
import { below, newKey, spendingIn } from '../harness/session/trees.ts';

const PRICE = 1_500_001n;
/** The price of the stamp and one per cent of the job's price, rounded up. */
const FEE = 2_000n + 15_001n;
const BOTH = PRICE + FEE;

let jobs: Awaited<ReturnType<typeof openJobs>>;
let root: DelegatedSession;
beforeAll(async () => {
  jobs = await openJobs();
  const { account } = jobs.poster;
  root = await delegate(account, account, newKey(), { capAtomic: '5000000' });
  expect((await jobs.service.buy(account, ask('Binds the root'), root.headers)).status).toBe(200);
});

const childWith = (capAtomic: string) => {
  const { validAfter, sessionExpiry } = root.grant;
  const narrowed = { capAtomic, validAfter, sessionExpiry, parentDelegationHash: root.delegation_hash };
  return delegate(root.agent, jobs.poster.account, newKey(), narrowed);
};

const burnt = (tree = root) => spendingIn(jobs.service, jobs.poster.session, tree);

const paying = (path: string) => paymentFor(jobs.poster.account, jobs.service.url + path, jobs.by(jobs.poster));
const pay = (path: string, headers: Readonly<Record<string, string>>) =>
  jobs.service.post<JsonObject>(path, {}, { ...jobs.by(jobs.poster), ...headers });

describe('POST /v1/board/jobs/{id}/pay under a session', () => {
  it('counts both payments at the first, on the session and on all over it; the second counts no more', async () => {
    const child = await childWith(String(BOTH));
    const path = `${JOBS}/${(await jobs.brought('delivered')).job_id}/pay`;
    const before = BigInt(String((await burnt()).get(root.delegation_hash)?.spentAtomic));
    const first = { ...(await paying(path)), ...child.headers };
    expect((await pay(path, first)).status).toBe(402);
    // The child is bound only when its payment is recorded, so it is in no tree yet. Its claim has the amount that the payment reserves.
    const [claim] = await jobs.service.query<{ holds: string; path: string[]; state: string }>(
      `select landing->'delegation'->>'holds' as holds, landing->'delegation'->'path' as path, state from payment_claim
        where landing->'delegation'->>'delegation_hash' = $1`,
      [child.delegation_hash],
    );
    expect(claim).toEqual({ holds: String(BOTH), path: [root.delegation_hash, child.delegation_hash], state: 'held' });
    expect((await burnt()).get(root.delegation_hash)).toEqual({
      spentAtomic: String(before),
      heldAtomic: String(BOTH),
    });
    const second = { ...(await paying(path)), ...child.headers };
    expect(await pay(path, second)).toMatchObject({ status: 200, body: { status: 'paid' } });
    const after = await burnt();
    expect(after.get(root.delegation_hash)).toEqual({ spentAtomic: String(before + BOTH), heldAtomic: '0' });
    expect(after.get(child.delegation_hash)).toEqual({ spentAtomic: String(BOTH), heldAtomic: '0' });
    const totals = `{ book(agentId: ${jobs.poster.agent_id}) { totalsBy(by: SESSION) { key count amount } } }`;
    const { body } = await jobs.service.post('/graphql', { query: totals }, jobs.by(jobs.poster));
    const { totalsBy } = (body as { data: { book: { totalsBy: JsonObject[] } } }).data.book;
    const counted = totalsBy.find(({ key }) => key === child.delegation_hash);
    const rows = await jobs.service.query<{ count: number; amount: string }>(
      `select count(*)::int as count, sum(r.amount)::text as amount from book_row r join delegated_call c using (task_id, agent_id)
        where c.delegation_hash = $1 and r.amount is not null`,
      [child.delegation_hash],
    );
    expect([counted && { count: counted.count, amount: counted.amount }]).toEqual(rows);
    // If they are sent again, they get what they bought and are not counted again.
    for (const again of [first, second]) expect((await pay(path, again)).status).toBe(200);
    expect((await burnt()).get(child.delegation_hash)).toEqual({ spentAtomic: String(BOTH), heldAtomic: '0' });
  });

  it('200 of both payments under a grant of `pay_job`, by REST and on the graph; 403 of either under one of another endpoint', async () => {
    const { account } = jobs.poster;
    const granted = (doors: string[]) => delegate(account, account, newKey(), { capAtomic: '5000000', doors });
    const [of_paying, of_bidding] = [await granted(['pay_job']), await granted(['bid_on_job'])];
    const path = `${JOBS}/${(await jobs.brought('delivered')).job_id}/pay`;
    const refused = { status: 403, body: { code: 'grant_exceeded', charged: false } };
    const first = await paying(path);
    expect(await pay(path, { ...first, ...of_bidding.headers })).toMatchObject(refused);
    expect((await pay(path, { ...first, ...of_paying.headers })).status).toBe(402);
    const second = await paying(path);
    expect(await pay(path, { ...second, ...of_bidding.headers })).toMatchObject(refused);
    expect(await pay(path, { ...second, ...of_paying.headers })).toMatchObject({
      status: 200,
      body: { status: 'paid' },
    });
    const { job_id } = await jobs.brought('delivered');
    const again = `${JOBS}/${job_id}/pay`;
    const query = `mutation { payJob(jobId: "${job_id}") { status } }`;
    const onGraph = async () =>
      jobs.service.post<JsonObject>(
        '/graphql',
        { query },
        { ...jobs.by(jobs.poster), ...(await paying(again)), ...of_paying.headers },
      );
    expect((await onGraph()).body).toMatchObject({ errors: [{ extensions: { code: 'payment_required' } }] });
    expect((await onGraph()).body).toMatchObject({ data: { payJob: { status: 'paid' } } });
  });

  it('403 session_cap_exceeded where both together are beyond the cap, though the first is not: nothing moves', async () => {
    const child = await childWith(String(BOTH - 1n));
    const { job_id } = await jobs.brought('delivered');
    const path = `${JOBS}/${job_id}/pay`;
    const moved = (await jobs.service.transfersFrom(jobs.poster.account)).length;
    expect(await pay(path, { ...(await paying(path)), ...child.headers })).toMatchObject({
      status: 403,
      body: { code: 'session_cap_exceeded', charged: false },
    });
    expect(await jobs.service.transfersFrom(jobs.poster.account)).toHaveLength(moved);
    expect((await jobs.read(job_id)).legs).toMatchObject([{ status: 'unpaid' }, { status: 'unpaid' }]);
  });
});

/** Sums of a session whose payments are all recorded. */
const spent = (atomic: bigint) => ({ spentAtomic: String(atomic), heldAtomic: '0' });
const apart = (capAtomic: bigint) => {
  const { account } = jobs.poster;
  return delegate(account, account, newKey(), { capAtomic: String(capAtomic) });
};

describe('POST /v1/board/jobs/{id}/pay, each payment under what it comes with', () => {
  const halfPaid = async (headers: Readonly<Record<string, string>>) => {
    const path = `${JOBS}/${(await jobs.brought('delivered')).job_id}/pay`;
    expect((await pay(path, { ...(await paying(path)), ...headers })).status).toBe(402);
    return path;
  };

  it('the second under another session: it counts there, too, beside what the first has counted for both', async () => {
    const [child, other, narrow] = [await childWith(String(BOTH)), await apart(FEE), await apart(FEE - 1n)];
    const before = BigInt(String((await burnt()).get(root.delegation_hash)?.spentAtomic));
    const path = await halfPaid(child.headers);
    const second = await paying(path);
    expect(await pay(path, { ...second, ...narrow.headers })).toMatchObject({
      status: 403,
      body: { code: 'session_cap_exceeded', charged: false },
    });
    expect(await pay(path, { ...second, ...other.headers })).toMatchObject({ status: 200, body: { status: 'paid' } });
    const after = await burnt();
    expect(after.get(root.delegation_hash)).toEqual(spent(before + BOTH));
    expect(after.get(child.delegation_hash)).toEqual(spent(BOTH));
    expect((await burnt(other)).get(other.delegation_hash)).toEqual(spent(FEE));
  });

  it('the second under one over the first’s: it has counted there with the first, and needs no more room', async () => {
    const { account } = jobs.poster;
    const parent = await apart(2_000n + BOTH);
    expect((await jobs.service.buy(account, ask('Binds the parent'), parent.headers)).status).toBe(200);
    const narrowed = { ...below(parent), capAtomic: String(BOTH) };
    const child = await delegate(parent.agent, account, newKey(), narrowed);
    const path = await halfPaid(child.headers);
    expect((await pay(path, { ...(await paying(path)), ...parent.headers })).status).toBe(200);
    const after = await burnt(parent);
    expect(after.get(parent.delegation_hash)).toEqual(spent(2_000n + BOTH));
    expect(after.get(child.delegation_hash)).toEqual(spent(BOTH));
  });

  it('the second under none: it has counted with the first, and counts no more', async () => {
    const child = await childWith(String(BOTH));
    const before = BigInt(String((await burnt()).get(root.delegation_hash)?.spentAtomic));
    const path = await halfPaid(child.headers);
    expect((await pay(path, await paying(path))).status).toBe(200);
    const after = await burnt();
    expect(after.get(root.delegation_hash)).toEqual(spent(before + BOTH));
    expect(after.get(child.delegation_hash)).toEqual(spent(BOTH));
  });

  it('the first under none: the second counts by itself on the session that it comes under', async () => {
    const alone = await apart(FEE);
    const path = await halfPaid({});
    expect((await pay(path, { ...(await paying(path)), ...alone.headers })).status).toBe(200);
    expect((await burnt(alone)).get(alone.delegation_hash)).toEqual(spent(FEE));
  });
});

describe('a grant beside a payment on Solana', () => {
  it('400 delegation_invalid: nothing is charged, and the payment buys without it', async () => {
    const { service } = jobs;
    const payer = await service.svm.newWallet();
    const payment = await service.paymentOnSolana(payer);
    const asked = service.hubs[0].requests.length;
    expect(await service.post(CHAT, ask('On Solana'), { ...payment, ...root.headers })).toMatchObject({
      status: 400,
      body: { code: 'delegation_invalid', charged: false },
    });
    expect([await service.movedFrom(payer), await service.claimsOf(payer)]).toEqual([[], []]);
    expect(service.hubs[0].requests.length).toBe(asked);
    expect((await service.post(CHAT, ask('On Solana'), payment)).status).toBe(200);
    expect(await service.movedFrom(payer)).toHaveLength(1);
  });
});
