import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { systemClock, systemRandom } from '../../subgraphs/clock.ts';
import type { Database } from '../../subgraphs/database.ts';
import { completionPaid, type Hubs, type Issuer, type SavedHead } from '../../subgraphs/receipt/index.ts';
import { agentOfWallet, registrationPaid } from '../../subgraphs/session/index.ts';
import type { Vault } from '../../subgraphs/vault.ts';
import type { Config } from '../config.ts';
import type { BaseChain } from './base/chain.ts';
import { openEpoch } from './epoch.ts';
import { openQueues } from './queues.ts';
import { type AnyPaid, openRecorder } from './record.ts';
import { FEE_CEILING_WEI_DEFAULT } from './settle/fees.ts';
import { type Settler, settlerDefaults } from './settle/settle.ts';
import { openSettler } from './settle/settler.ts';
import { type ClaimItem, commitSettling } from './steps.ts';
import type { Faults, Till } from './till.ts';

export interface TillParts {
  readonly config: Config;
  readonly database: Database;
  readonly chain: BaseChain;
  readonly hubs: Hubs;
  readonly issuer: Issuer;
  readonly vault: Vault;
  readonly saved_head: SavedHead;
  readonly faults: Faults;
  readonly logger: Logger;
  readonly openSettling: OpenSettling;
}

/** Opens the way to the chain; another one (an external facilitator, a bench without a chain) fits in its place. */
export type OpenSettling = (
  parts: Pick<TillParts, 'config' | 'database' | 'chain' | 'faults' | 'logger'>,
) => Settler<ClaimItem>;

const POLL_MS_DEVELOPMENT = 20;

/** Settles in this process, with the configured keys. */
export const openOwnSettling: OpenSettling = ({ config, database, chain, faults, logger }) =>
  openSettler<ClaimItem>({
    ...settlerDefaults,
    chain,
    database,
    keys: config.facilitator_keys,
    clock: systemClock,
    random: systemRandom,
    fee_ceiling_wei: FEE_CEILING_WEI_DEFAULT,
    // A development chain mines at once; on Base a block takes two seconds.
    poll_ms: config.profile === 'development' ? POLL_MS_DEVELOPMENT : settlerDefaults.poll_ms,
    faults,
    commitSettling,
    trouble: error => logger.warn({ err: error }, 'trouble while settling'),
  });

/** Everything that is sold, by field. A paid field that is missing here could be claimed and never be finished. */
function soldBy(hubs: Hubs, vault: Vault): ReadonlyMap<string, AnyPaid> {
  const sold = [completionPaid(hubs), registrationPaid({ vault, random: systemRandom })] as unknown as AnyPaid[];
  return new Map(sold.map(paid => [paid.field, paid]));
}

/** The till of this process: its own name, its queues, its way to the chain. @throws OtherChain */
export async function openTill(parts: TillParts): Promise<Till> {
  const { config, database, chain, hubs, issuer, vault, saved_head, faults } = parts;
  const chain_epoch = await openEpoch(database, chain, config.profile);
  const queues = openQueues(database, openRecorder(issuer, vault.seal));
  return {
    database,
    queues,
    chain,
    chain_epoch,
    settler: parts.openSettling(parts),
    issuer,
    vault,
    saved_head,
    clock: systemClock,
    random: systemRandom,
    faults,
    base_url: config.base_url,
    profile: config.profile,
    pay_to: { base: config.pay_to_base },
    owner: randomUUID(),
    sold: soldBy(hubs, vault),
    agentOfWallet: wallet => agentOfWallet(database, wallet),
  };
}
