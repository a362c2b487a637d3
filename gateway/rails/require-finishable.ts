import type { Database } from '../../subgraphs/database.ts';
import { unfinished } from '../../subgraphs/receipt/claim/unfinished.ts';
import { closeRails, type Rails } from './rail.ts';

class UnfinishedPayments extends Error {
  override name = 'UnfinishedPayments';
}

/**
 * A payment that may have moved is finished by asking its chain. Without a way to that one its payer would be told to pay
 * again, for ever: so nothing starts, and the rails are closed. @throws UnfinishedPayments
 */
export async function requireFinishable(database: Pick<Database, 'query'>, rails: Rails): Promise<void> {
  const stranded = (await unfinished(database)).filter(({ network }) => rails[network] === null);
  if (stranded.length === 0) return;
  await closeRails({ rails });
  const counted = stranded.map(({ network, payments }) => `${payments} on ${network}`).join(', ');
  throw new UnfinishedPayments(
    `payments are still open on a network that is configured no longer (${counted}): configure it until they are finished`,
  );
}
