import type { AgentId } from '../../../schema/ids.ts';
import { selectList } from '../../columns.ts';
import type { Database, Tx } from '../../database.ts';
import { Agent } from './agent.entity.ts';

/**
 * Agent of a wallet. Null if there is none, as for wallets of chains other than Base. @param wallet in the spelling of its chain (EIP-55
 * on Base)
 */
export async function agentOfWallet(database: Database, wallet: string): Promise<AgentId | null> {
  const rows = await database.query<{ agent_id: AgentId }>({
    name: 'agent of wallet',
    text: 'select agent_id from agent where wallet = $1',
    values: [wallet],
  });
  return rows[0]?.agent_id ?? null;
}

/** Agents of several wallets, by wallet. Wallets without an agent are left out. */
export async function agentsOfWallets(tx: Tx, wallets: readonly string[]): Promise<ReadonlyMap<string, AgentId>> {
  if (wallets.length === 0) return new Map();
  const { rows } = await tx.query<{ wallet: string; agent_id: AgentId }>({
    name: 'agents of wallets',
    changes_nothing: true,
    text: 'select wallet, agent_id from agent where wallet = any($1)',
    values: [wallets],
  });
  return new Map(rows.map(({ wallet, agent_id }) => [wallet, agent_id]));
}

export async function agentById(database: Database, agent_id: number): Promise<Agent | null> {
  const rows = await database.query<Agent>({
    name: 'agent by id',
    text: `select ${selectList(Agent)} from agent where agent_id = $1`,
    values: [agent_id],
  });
  return rows[0] ?? null;
}

export async function walletOfAgent(database: Database, agent_id: AgentId): Promise<string | null> {
  return (await agentById(database, agent_id))?.wallet ?? null;
}
