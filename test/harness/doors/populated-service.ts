import { openStore } from '../../../gateway/parts.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { writeComment, writeJob, writePost } from '../board/board.ts';
import { openTransferSource, transferOf } from '../ingest/transfer-source.ts';
import { atEnd } from '../release.ts';
import { nowSeconds } from '../session/delegate.ts';
import { bindChild, bindRoot, revoke } from '../session/trees.ts';
import { approvalDoorsOf } from './approvals.ts';
import { assignDoorsOf } from './assignments.ts';
import { completionReport } from './completions.ts';
import { disputeDoorsOf } from './disputes.ts';
import { escrowDoorsOf } from './escrows.ts';
import { inflowDoorsOf } from './inflows.ts';
import { makePayment } from './make-payment.ts';
import { ask, CHAT, type Chat, openService, type Service } from './open-service.ts';
import { policyDoorsOf } from './policies.ts';
import { newestBlock, reconciliationDoorsOf } from './reconciliations.ts';
import { report, routerDoorsOf } from './router.ts';
import { webhookDoorsOf } from './webhooks.ts';

export const INBOUND = { 'X-SVC-Board-Inbound': `inbound-${'7'.repeat(32)}` };
export const OPS = { 'X-SVC-Board-Ops': `ops-${'f'.repeat(48)}` };

export type Populated = Awaited<ReturnType<typeof openPopulated>>;

/** A service with at least one object of each kind that an endpoint shows, so that no comparison of faces compares empty answers. */
export async function openPopulated() {
  const world = openTransferSource();
  const service = await openService(
    {
      BOARD_INBOUND_SECRET: INBOUND['X-SVC-Board-Inbound'],
      BOARD_OPS_SECRET: OPS['X-SVC-Board-Ops'],
      DEMO_KEYS: 'a-demo-key',
      RATE_FREE: '100000/1',
    },
    { media: true, transfers: world.transfers },
  );
  const agent = await service.newAgent();
  const stranger = await service.newAgent();
  return {
    service,
    world,
    agent,
    stranger,
    book: await bookOf(service, agent, stranger),
    near: await bookNearItsWalls(service),
    before: await bookOfYesterday(service),
    waiting: await bookThatWaits(service),
    sessions: await sessionsOf(service, agent),
    nonce: await paidByHand(service),
    ...(await board(service, world)),
    ...(await routerBook(service)),
  };
}

type Agent = Awaited<ReturnType<Service['newAgent']>>;

/** Rows of each kind on one book, and the records that are made from them. */
async function bookOf(service: Service, agent: Agent, counterparty: Agent) {
  const { file, bought } = disputeDoorsOf(() => service);
  const { start, ended } = reconciliationDoorsOf(() => service);
  const { account, agent_id, session } = agent;
  const shop = policyDoorsOf(service);
  // Two calls with the first row as their parent, so that one page does not hold all of them.
  const after = { 'X-SVC-Parent': agent.task_id };
  const chat = (await service.buy(account, ask('One', { intent_id: 'bill', attempt_index: 0 }), after)).body;
  await service.buy(account, ask('Another', { intent_id: 'bill', attempt_index: 1 }), after);
  const { task_id } = await bought(agent, ask('Disputed'));
  await inflowDoorsOf(() => service).record(agent, { allocation: '2000' });
  await shop.set(agent, 'kill_switch', true);
  const { heard } = await shop.chatToRefusal(agent);
  await shop.set(agent, 'kill_switch', null);
  const dispute = {
    task_id,
    claim_type: 'output_missing',
    evidence: { note: { snake_case: { inner: 1 }, camelCase: 2 } },
  };
  const filed = await file(agent, dispute);
  await escrowDoorsOf(() => service).opened(agent, counterparty, 'a-job');
  const assignments = assignDoorsOf(() => service);
  const { token } = await assignments.tokenOf(agent, { grant_type: 'collect' });
  const range = { wallet: account.address, from_block: 0, to_block: await newestBlock(service.chain) };
  const reconciled = await ended(agent, (await start(agent, range)).body.report_id);
  const published = await service.post<{ slug: string }>(`/v1/agents/${agent_id}/book/export/publish`, { session });
  return {
    chat,
    task_id,
    dispute,
    dispute_id: filed.body.dispute_id,
    refusal_id: heard.body.refusal_id ?? '',
    report_id: reconciled.report_id,
    slug: published.body.slug,
    token,
  };
}

/** An agent that has spent half of its budget, so that its book raises an alert. */
async function bookNearItsWalls(service: Service): Promise<Agent> {
  const agent = await service.newAgent();
  await policyDoorsOf(service).setBudget(agent, '8000');
  await service.buy(agent.account, ask('Half'));
  return agent;
}

/** An agent whose book's rows are moved to yesterday, because the public record shows past days only. */
async function bookOfYesterday(service: Service): Promise<Agent> {
  const agent = await service.newAgent();
  const text = `update book_sum set period = period - interval '1 day' where agent_id = $1`;
  await service.query(text, [agent.agent_id]);
  return agent;
}

/** An agent with a call that waits for approval, and with a webhook whose deliveries have failed. */
async function bookThatWaits(service: Service): Promise<Agent> {
  const approvals = approvalDoorsOf(() => service);
  const agent = await approvals.cautious();
  await approvals.callToApprove(agent, 'To be approved');
  const { put } = webhookDoorsOf(() => service);
  const set = await put(agent, { url: 'https://hooks.invalid/' });
  if (set.status !== 200) throw new Error(set.text);
  await service.query(
    `insert into webhook_dead_letter (agent_id, position, kind, attempts, given_up_at) values ($1, 1, 'settle', 10, now())`,
    [agent.agent_id],
  );
  return agent;
}

/** Hashes of a session that is active, one that has expired, and one that ended by the revocation of its parent. */
async function sessionsOf(service: Service, { account }: Agent) {
  const [active, over, revoked] = [
    await bindRoot(service, account),
    await bindRoot(service, account),
    await bindRoot(service, account),
  ];
  const child = await bindChild(service, revoked);
  // These two are the newest sessions of the list, so that one page does not hold all of it.
  await revoke(service, account, revoked);
  await revoke(service, account, await bindRoot(service, account));
  const text = 'update delegation set session_expiry = $2 where delegation_hash = $1';
  await service.query(text, [over.delegation_hash, nowSeconds() - 1]);
  return [active, over, child].map(({ delegation_hash }) => delegation_hash);
}

/** The nonce of a payment, by which its settlement is looked up. */
async function paidByHand(service: Service): Promise<string> {
  const { headers, message } = await makePayment(service, await service.chain.newWallet());
  await service.post<Chat>(CHAT, ask('Settled'), headers);
  return message.nonce;
}

async function board(service: Service, world: ReturnType<typeof openTransferSource>) {
  const database = await openStore(service.database_url);
  atEnd(() => database.close());
  await writePost(database, 'post_one', { untrusted_text: 'Billed, and quickly' });
  await writePost(database, 'post_other', { untrusted_text: 'Billed twice' });
  await writeComment(database, { post_id: 'post_one', comment_id: 'comment_one' });
  await writeJob(database, 'job_one');
  await service.query(
    `insert into board_flagged (thing_id, post_id, comment_id, flag_count, flagged_at)
     values ('post_one', 'post_one', null, 2, now()), ('comment_one', 'post_one', 'comment_one', 1, now()), ('post_other', 'post_other', null, 1, now())`,
  );
  const { payer, pay_to: payee, amount, transaction: payment_tx } = world.show(transferOf());
  const shown = completionReport({ payer, payee, amount, payment_tx });
  const completed = await service.post<{ task_id: string }>('/v1/board/inbound/completions', shown, INBOUND);
  return { completions: [shown, completionReport()] as JsonObject[], completed: completed.body.task_id };
}

async function routerBook(service: Service) {
  const { open, broadcast } = routerDoorsOf(() => service);
  const { book_id, ingest_key } = (await open()).body;
  const generated = await broadcast(ingest_key, report());
  return { router: { book_id, ingest_key }, generated: generated.body.task_id };
}
