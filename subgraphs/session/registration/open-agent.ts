import type pg from 'pg';
import type { Address } from 'viem';
import type { AgentId } from '../../../schema/ids.ts';
import { openBook } from '../../book/ledger/collect.ts';
import type { Services } from '../../context.ts';
import type { Tx } from '../../database.ts';
import { issueSession } from '../possession/issue.ts';
import type { RegistrationAnswer } from './answer.ts';

/** A proven wallet and the receipt that registers it. */
export interface Application {
  readonly wallet: Address;
  readonly task_id: string;
  readonly request_hash: string;
}

/** Slot of a wallet. Only one registration can take it, however it is paid and however the wallet is spelt. */
export function walletSlot(wallet: string): string {
  return `wallet:${wallet.toLowerCase()}`;
}

/** The next agent id. Failed registrations leave gaps. */
export async function nextAgentId(
  query: (statement: pg.QueryConfig) => Promise<readonly { agent_id?: AgentId }[]>,
): Promise<AgentId> {
  const rows = await query({ name: 'next agent id', text: `select nextval('agent_id_seq')::integer as agent_id` });
  const agent_id = rows[0]?.agent_id;
  if (agent_id === undefined) throw new Error('agent_id_seq gave nothing');
  return agent_id;
}

/** Creates the agent, its book and its session. The caller has taken the slot of the wallet. */
export async function openAgent(
  tx: Tx,
  agent_id: AgentId,
  { wallet, task_id, request_hash }: Application,
  services: Pick<Services, 'random' | 'vault'>,
): Promise<RegistrationAnswer> {
  tx.write({
    name: 'insert agent',
    text: `insert into agent (agent_id, wallet, task_id, request_hash, validate_score, registered_at)
      values ($1, $2, $3, $4, null, now())`,
    values: [agent_id, wallet, task_id, request_hash],
  });
  openBook(tx, agent_id);
  const { session } = await issueSession(tx, agent_id, services);
  return { agent_id, agentWallet: wallet, session, task_id, validate_score: null };
}
