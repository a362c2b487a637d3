import { bookTask } from '../../../gateway/webhooks/book-messages.ts';
import type { DeliveryParts } from '../../../gateway/webhooks/deliver.ts';
import { Lanes } from '../../../gateway/webhooks/lanes.ts';
import { systemResolve } from '../../../gateway/webhooks/look-up.ts';
import { type Clock, systemClock, systemRandom } from '../../../subgraphs/clock.ts';
import type { Database } from '../../../subgraphs/database.ts';
import { openVault } from '../../../subgraphs/vault.ts';
import { SEAL_KEY } from './webhook-books.ts';

/** One run of a book's delivery task, as the job worker runs it. */
export function runBookTask(database: Database, agent_id: number, clock: Clock = systemClock): Promise<void> {
  const parts: DeliveryParts = {
    vault: openVault(SEAL_KEY),
    reach: 'local',
    resolve: systemResolve,
    random: systemRandom,
    clock,
    lanes: new Lanes({ prompt: 1, untried: 1, slow: 1 }),
    onOutcome: () => {},
    base_url: 'https://example.test',
  };
  const { signal } = new AbortController();
  return bookTask(parts).run({ agent_id }, { database, signal, attempt: 1 });
}
