import { agentId } from '../../../schema/ids.ts';
import { inflowFacts } from '../../../subgraphs/book/inflow/record.ts';
import { appendNewRows } from '../../../subgraphs/book/ledger/append-new-rows.ts';
import { changeWebhook } from '../../../subgraphs/book/webhook/change.ts';
import type { Database } from '../../../subgraphs/database.ts';
import { openVault } from '../../../subgraphs/vault.ts';
import { withBooks } from '../ledger/fixture.ts';

export const SEAL_KEY = 'a seal key of tests, which is long enough for that';

/** Books of one database whose webhooks receive inflows, without wallets and without the REST layer. */
export function openWebhookBooks(database: Database) {
  const vault = openVault(SEAL_KEY);
  let tasks = 0;
  return {
    async open(agent: number, url: string): Promise<void> {
      await withBooks(database, agent);
      const held = { agent_id: agentId(agent), session_hash: '0'.repeat(64), by: 'session' } as const;
      const secrets = { url, secret: 's'.repeat(32), old: [] };
      await changeWebhook({ database, vault }, held, () => ({ secrets, events: ['inflow'], enabled: true }));
    },
    /** Appends an event to each of these books. */
    async tell(agents: readonly number[]): Promise<void> {
      for (const agent of agents) {
        const birth = inflowFacts({ task_id: `told-${agent}-${++tasks}` }, {});
        await database.transaction(tx => appendNewRows(tx, [{ agent_id: agentId(agent), birth, owed: false }]));
      }
    },
  };
}
