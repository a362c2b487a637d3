import { expect } from 'vitest';
import type { z } from 'zod';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { A2aEscrowNoun, A2aEscrowsNoun, LedgerEscrowNoun } from '../../../schema/escrow.ts';
import { ask, type Service } from './open-service.ts';

type Agent = Awaited<ReturnType<Service['newAgent']>>;
type A2aShown = z.infer<typeof A2aEscrowNoun>;

/** Part of a receipt's payload that commits to an output. */
interface CommittedPayload {
  readonly fulfillment: { readonly output_commitment: { readonly kind: string; readonly hash: string } };
}

/** Calls of the endpoints that open, change and read escrows. */
export function escrowDoorsOf(service: () => Service) {
  const path = ({ agent_id }: Pick<Agent, 'agent_id'>, kind: 'escrow' | 'a2a-escrow') =>
    `/v1/agents/${agent_id}/book/${kind}`;
  const a2a = (agent: Agent, action: string, body: JsonObject = {}, headers = {}) =>
    service().post<A2aShown>(path(agent, 'a2a-escrow'), { session: agent.session, action, ...body }, headers);
  return {
    path,
    ledger: (agent: Agent, action: string, body: JsonObject = {}, headers = {}) =>
      service().post<z.infer<typeof LedgerEscrowNoun>>(
        path(agent, 'escrow'),
        { session: agent.session, action, ...body },
        headers,
      ),
    a2a,
    list: (agent: Agent, query = '') =>
      service().get<z.infer<typeof A2aEscrowsNoun>>(`${path(agent, 'a2a-escrow')}${query}`, {
        'X-SVC-Session': agent.session,
      }),
    /** A chat that the agent pays for. Returns its task and the output commitment of its receipt. */
    async bought(agent: Agent, content: string) {
      const { task_id } = (await service().buy(agent.account, ask(content))).body.svc;
      const receipt = await service().get<{ payload: CommittedPayload }>(`/receipt/${task_id}`);
      const { kind, hash } = receipt.body.payload.fulfillment.output_commitment;
      return { task_id, commitment: `${kind}:${hash}` };
    },
    /** Opens an escrow between the two agents. `terms` replaces its default terms. */
    async opened(principal: Agent, counterparty: Agent, job_id: string, terms: JsonObject = {}): Promise<A2aShown> {
      const parties = { principal_agent_id: principal.agent_id, counterparty_agent_id: counterparty.agent_id };
      const body = { job_id, job_spec_hash: `0x${'AB'.repeat(32)}`, amount: '2000', parties, ...terms };
      const { status, body: answer, text } = await a2a(principal, 'open', body);
      expect(status, text).toBe(201);
      return answer;
    },
    /** Moves the end of an escrow into the past, by the database's clock. */
    async pass(table: 'a2a_escrow' | 'ledger_escrow', escrow_id: string): Promise<void> {
      const text = `update ${table} set expires_at = clock_timestamp() - interval '1 second' where escrow_id = $1`;
      await service().query(text, [escrow_id]);
    },
  };
}

/** A claim that a delivery failed, which a clawback requires. */
export const CLAIM = { claim_type: 'output_missing', evidence: { why: 'nothing came' } } as const;

/** A principal, a counterparty that buys what it delivers, and an agent that is no party. */
export async function escrowPair(service: Service) {
  const doors = escrowDoorsOf(() => service);
  const principal = await service.newAgent();
  const counterparty = await service.newAgent();
  const stranger = await service.newAgent();
  const open = (job_id: string, terms: JsonObject = {}) => doors.opened(principal, counterparty, job_id, terms);
  const payment = async () => (await doors.bought(principal, 'A payment to back it')).task_id;
  /** Buys the delivery of the counterparty now, because a receipt can fulfil one escrow only and must not be older than that escrow. */
  const submission = async () => {
    const { task_id, commitment } = await doors.bought(counterparty, 'What was asked for');
    return { fulfillment_receipt_id: task_id, output_commitment: commitment };
  };
  const funded = async (job_id: string, terms: JsonObject = {}): Promise<string> => {
    await open(job_id, terms);
    const task_id = await payment();
    expect((await doors.a2a(principal, 'fund', { job_id, task_id })).status).toBe(201);
    return task_id;
  };
  return {
    principal,
    counterparty,
    stranger,
    open,
    payment,
    submission,
    funded,
    async submitted(job_id: string): Promise<void> {
      await funded(job_id);
      expect((await doors.a2a(counterparty, 'submit', { job_id, ...(await submission()) })).status).toBe(200);
    },
    /** Rows of a book, newest first, and the amount that it has spent. */
    async book(agent: Agent, query = '?evidence=a2a_escrow') {
      const path = `/v1/agents/${agent.agent_id}/book${query}`;
      const { body } = await service.get<{ entries: EscrowEntry[]; spent: string }>(path, {
        'X-SVC-Session': agent.session,
      });
      return body;
    },
  };
}

interface EscrowEntry {
  readonly task_id: string;
  readonly evidence: string;
  readonly a2a_escrow?: JsonObject;
}
