import pg from 'pg';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { approvalToken } from '../../subgraphs/book/approval/link.ts';
import { openVault } from '../../subgraphs/vault.ts';
import { approvalDoorsOf } from '../harness/doors/approvals.ts';
import { openService, type Service } from '../harness/doors/open-service.ts';
import { atEnd } from '../harness/release.ts';
import { type DelegatedSession, delegate, signAct, signRevocation } from '../harness/session/delegate.ts';
import { familiesOf } from '../harness/session/families.ts';
import { bindRoot, newKey, payUnder, sessionPath } from '../harness/session/trees.ts';
import { openWallets, type TestWallets } from '../harness/wallets.ts';

/*
 * Acts, revocations and answers while the chain, the database or the book is unavailable: 503, nothing is done, and the same request
 * succeeds later.
 */

const SEAL_KEY = 'a key that seals and marks, of a test alone';
let service: Service;
let wallets: TestWallets;
beforeAll(async () => {
  service = await openService({ SEAL_KEY }, { meant: /canceling statement due to lock timeout/ });
  wallets = openWallets(service.chain);
});
afterEach(() => service.gates.base.open());

const { newest, answer, cautious, callToApprove, walletAnswer } = approvalDoorsOf(() => service);
const { family } = familiesOf(() => service);
const acting = ({ delegation_hash }: DelegatedSession) => sessionPath(delegation_hash, 'act');
const away = { status: 503, body: { code: 'chain_unavailable' } };
const damaged = { status: 503, body: { code: 'book_damaged' } };
type Signer = Parameters<typeof delegate>[0];

/** A session that a contract wallet (ERC-1271) granted and one of its payments bound. */
async function ofContract() {
  const payer = (await wallets.plain()) as unknown as Signer;
  const session = await delegate(payer, payer, newKey());
  return { payer, session, task_id: await payUnder(service, { ...session, payer }, 'Bound by a contract') };
}

describe('POST /v1/sessions/{delegation_hash}/revoke', () => {
  it('503 chain_unavailable where its payer is a contract that cannot be asked; the same request ends it later', async () => {
    const { payer, session } = await ofContract();
    const path = sessionPath(session.delegation_hash);
    const body = await signRevocation(payer, session.delegation_hash);
    service.gates.base.cut();
    expect(await service.post(`${path}/revoke`, body)).toMatchObject(away);
    expect((await service.get(path)).body).toMatchObject({ status: 'active' });
    const { body: list } = await service.get<{ sessions: JsonObject[] }>('/.well-known/revocations');
    expect(list.sessions.map(({ delegation_hash }) => delegation_hash)).not.toContain(session.delegation_hash);
    service.gates.base.open();
    await expect.poll(async () => (await service.post(`${path}/revoke`, body)).status).toBe(200);
    expect((await service.get(path)).body).toMatchObject({ status: 'revoked' });
  });
});

describe('POST /v1/sessions/{delegation_hash}/act', () => {
  it('200 while the chain is away, also under a contract’s grant: a session’s key signs, and no wallet is asked', async () => {
    const { session, task_id } = await ofContract();
    service.gates.base.cut();
    const act = await signAct(session, { action: 'redeem', resource: `receipt/${task_id}` });
    expect(await service.post(acting(session), act)).toMatchObject({ status: 200, body: { redeemed: { task_id } } });
  });

  it('503 unavailable while the database lets nobody in: nothing is taken, and the same act passes later', async () => {
    const session = await bindRoot(service, await service.chain.newWallet());
    const act = await signAct(session, { action: 'redeem', resource: `receipt/${session.task_id}` });
    const holder = new pg.Client({ connectionString: service.database_url });
    await holder.connect();
    atEnd(() => holder.end());
    await holder.query('begin');
    await holder.query('lock table act_use in access exclusive mode');
    expect(await service.post(acting(session), act)).toMatchObject({ status: 503, body: { code: 'unavailable' } });
    await holder.query('rollback');
    expect((await service.post(acting(session), act)).status).toBe(200);
    expect((await service.post(acting(session), act)).status).toBe(409);
  });

  it('503 book_damaged by `approve`, where the audit has closed the book; the same act answers once it is open again', async () => {
    const { worker, parent, call, resource } = await family('On a closed book, by act');
    const act = await signAct(parent, { action: 'approve', resource });
    await closesMeanwhile(worker.agent_id, async () => {
      expect(await service.post(acting(parent), act)).toMatchObject(damaged);
    });
    expect((await newest(worker)).status).toBe('open');
    expect((await service.post(acting(parent), act)).status).toBe(200);
    expect((await call.send()).status).toBe(200);
  });

  it('503 book_damaged by `redeem` of what was handed to a closed book: its claim stays open', async () => {
    const [giver, target] = [await service.chain.newWallet(), await service.newAgent()];
    const [ours, theirs] = [await bindRoot(service, giver), await bindRoot(service, target.account)];
    const resource = `receipt/${ours.task_id}`;
    const handing = await signAct(ours, { action: 'handoff', resource, target_agent: target.agent_id });
    const { body } = await service.post<{ receipt: { task_id: string } }>(acting(ours), handing);
    const redeem = await signAct(theirs, { action: 'redeem', resource: `receipt/${body.receipt.task_id}` });
    await closesMeanwhile(target.agent_id, async () => {
      expect(await service.post(acting(theirs), redeem)).toMatchObject(damaged);
    });
    expect((await service.post(acting(theirs), redeem)).status).toBe(200);
  });
});

/** Runs `what` while the book is closed, as after its audit found damage. */
async function closesMeanwhile(agent_id: number, what: () => Promise<void>): Promise<void> {
  await service.query(`update book set damage = '{"what":"row_missing","place":1}' where agent_id = $1`, [agent_id]);
  await what();
  await service.query('update book set damage = null where agent_id = $1', [agent_id]);
}

describe('POST /v1/agents/{agent_id}/book/approvals/{approval_id}', () => {
  it('503 book_damaged on a book that its audit has closed; the same answer stands once it is open again', async () => {
    const agent = await cautious();
    const { request, send } = await callToApprove(agent, 'On a closed book, by wallet');
    const signed = await walletAnswer(agent.account, request);
    await closesMeanwhile(agent.agent_id, async () => {
      expect(await answer(agent, request.approval_id, signed)).toMatchObject(damaged);
    });
    expect((await newest(agent)).status).toBe('open');
    expect((await answer(agent, request.approval_id, signed)).status).toBe(200);
    expect((await send()).status).toBe(200);
  });

  it('503 chain_unavailable where its wallet cannot be asked; the same answer stands later', async () => {
    const agent = await cautious();
    const { request } = await callToApprove(agent, 'While the chain is away');
    const signed = await walletAnswer(agent.account, request);
    service.gates.base.cut();
    expect(await answer(agent, request.approval_id, signed)).toMatchObject(away);
    expect((await newest(agent)).status).toBe('open');
    service.gates.base.open();
    await expect.poll(async () => (await answer(agent, request.approval_id, signed)).status).toBe(200);
  });
});

describe('POST /v1/approvals/{approval_id}', () => {
  it('503 book_damaged on a book that its audit has closed; the same link answers once it is open again', async () => {
    const agent = await cautious();
    const { request, send } = await callToApprove(agent, 'On a closed book, by link');
    const token = approvalToken({ vault: openVault(SEAL_KEY) }, request.approval_id);
    const say = () =>
      service.post<JsonObject>(
        `/v1/approvals/${request.approval_id}`,
        { decision: 'approve' },
        { 'X-SVC-Approval': token },
      );
    await closesMeanwhile(agent.agent_id, async () => {
      expect(await say()).toMatchObject(damaged);
    });
    expect((await newest(agent)).status).toBe('open');
    expect((await say()).status).toBe(200);
    expect((await send()).status).toBe(200);
  });
});
