import type { Logger } from 'pino';
import { type Clock, systemClock, systemRandom } from '../../subgraphs/clock.ts';
import type { Database } from '../../subgraphs/database.ts';
import type { ForeignTransfers } from '../../subgraphs/foreign-transfers.ts';
import { readUnfinished } from '../../subgraphs/receipt/claim/figures.ts';
import { Semaphore } from '../../subgraphs/semaphore.ts';
import type { WalletProofs } from '../../subgraphs/wallet-proofs.ts';
import { ConfigFault } from '../config/fault.ts';
import type { Config } from '../config/read-config.ts';
import type { Faults } from '../operations/faults.ts';
import type { PayTo } from '../x402/offer.ts';
import type { Hex } from './base/abi.ts';
import { openBaseRail } from './base/base-rail.ts';
import type { BaseChain } from './base/chain.ts';
import { ChainHead } from './base/chain-head.ts';
import { baseFacilitatorChain } from './base/facilitator-chain.ts';
import { openSettler } from './base/settle/settler.ts';
import { settlerKey } from './base/settle/transaction.ts';
import { factoriesOf } from './base/signature.ts';
import { ChainAway } from './epoch.ts';
import { type Authorize, openAuthorize } from './facilitator/auth.ts';
import { openFacilitator } from './facilitator/client.ts';
import { type FacilitatorTimes, facilitatorDefaults, openFacilitatorSettler } from './facilitator/settler.ts';
import { openForeignTransfers } from './foreign/open-foreign-transfers.ts';
import type { BasePayment } from './payment.ts';
import { closeRails, type Rails } from './rail.ts';
import { type ClaimItem, claimSettlerParts, type Settler, settlerDefaults } from './settler.ts';
import type { OpenedSolana } from './solana/open-solana.ts';

class UnfinishedPayments extends Error {
  override name = 'UnfinishedPayments';
}

/**
 * A payment that may have moved can be decided only by its chain. Without access to that chain its payer would be asked to pay
 * again, so the start fails and the rails are closed. @throws UnfinishedPayments
 */
async function requireFinishable(database: Pick<Database, 'query'>, rails: Rails): Promise<void> {
  const stranded = (await readUnfinished(database)).filter(({ network }) => rails[network] === null);
  if (stranded.length === 0) return;
  await closeRails({ rails });
  const counted = stranded.map(({ network, payments }) => `${payments} on ${network}`).join(', ');
  throw new UnfinishedPayments(
    `payments are still open on a network that is no longer configured (${counted}); configure it again until they are finished`,
  );
}

export interface RailsParts {
  readonly config: Config;
  readonly database: Database;
  readonly chain: BaseChain;
  readonly chain_epoch: () => number;
  readonly wallets: WalletProofs;
  readonly faults: Faults | null;
  readonly logger: Logger;
  readonly openSettling: OpenSettling;
  /** Measures the age of a chain's observed market. */
  readonly clock: Clock;
  /** Maximum time that a caller waits for a transaction on Solana. */
  readonly wait_ms?: number | undefined;
  /** Minimum work of a send on Nano, if it differs from the network's. */
  readonly nano_work_min?: bigint | undefined;
}

/** Opens settlement. Tests and the facilitator pass another function than the default. */
export type OpenSettling = (
  parts: Pick<RailsParts, 'config' | 'database' | 'chain' | 'clock' | 'faults' | 'logger'>,
) => Settler<ClaimItem<BasePayment>>;

const POLL_MS_DEVELOPMENT = 20;
/** Limits on log searches for a payment that someone else submitted, which take many pages. */
const SEARCHES = { at_once_max: 2, wait_ms_max: 10_000, waiting_per_asker_max: 32 };

/** Opens a settler that sends from this process with the configured keys. */
const openOwnSettling = (
  { config, database, chain, clock, faults, logger }: Parameters<OpenSettling>[0],
  wait_ms: number,
): Settler<ClaimItem<BasePayment>> =>
  openSettler<ClaimItem<BasePayment>>({
    ...claimSettlerParts({ database, faults, logger }, 'a settlement on Base failed'),
    ...settlerDefaults,
    wait_ms,
    chain,
    keys: config.facilitator_keys,
    clock,
    fee_bounds: { fee_max_atomic: config.settle_fee_max, fee_day_max_atomic: config.settle_fee_day_max },
    eth_price: { given: config.eth_usd, profile: config.profile },
    // A development chain mines at once; a block on Base takes two seconds.
    poll_ms: config.profile === 'development' ? POLL_MS_DEVELOPMENT : settlerDefaults.poll_ms,
  });

/** Settles by the configured facilitator, or without one in this process. A caller waits there for at most `wait_ms`. */
export const configuredSettling =
  (times: FacilitatorTimes = facilitatorDefaults, wait_ms: number = settlerDefaults.wait_ms): OpenSettling =>
  parts => {
    const { config, chain } = parts;
    if (config.facilitator_url === null) return openOwnSettling(parts, wait_ms);
    const { verify_ms, settle_ms, ...rest } = times;
    return openFacilitatorSettler<ClaimItem<BasePayment>, BasePayment>({
      ...claimSettlerParts(parts, 'a request to the facilitator failed'),
      ...rest,
      facilitator: openFacilitator({
        url: config.facilitator_url,
        network: 'base',
        verify_ms,
        settle_ms,
        authorize: authorizeBy(config),
      }),
      facilitated: baseFacilitatorChain(chain),
    });
  };

const authorizeBy = ({ facilitator_auth }: Pick<Config, 'facilitator_auth'>): Authorize =>
  openAuthorize(facilitator_auth, { clock: systemClock, random: systemRandom });

/** Address of our first settler key. With a facilitator it is our payee address, which is certainly not a contract's. */
function settlesFrom({ facilitator_keys: [key], pay_to_base }: Config): Hex {
  return key ? settlerKey(key).address : (pay_to_base as Hex);
}

/** Loads Solana only if it is configured, because its libraries are large. */
async function solanaOf(
  { config, database, faults, logger, wait_ms }: RailsParts,
  searches: Semaphore,
): Promise<OpenedSolana | null> {
  const { solana, profile, facilitator_url } = config;
  const authorize = authorizeBy(config);
  if (solana === null) return null;
  const { openSolanaPayments } = await import('./solana/open-solana.ts');
  const opened = openSolanaPayments({
    solana,
    profile,
    facilitator_url,
    authorize,
    database,
    faults,
    logger,
    searches,
    wait_ms: wait_ms ?? settlerDefaults.wait_ms,
  });
  return opened.catch(fault => {
    throw fault instanceof ChainAway ? new ConfigFault([solanaAway], { cause: fault }) : fault;
  });
}

/**
 * Configuration fault of a Solana node that does not respond: without its genesis hash it is unknown to which chain payments would
 * belong.
 */
const solanaAway = {
  variable: 'SOLANA_RPC_URL',
  problem: 'does not answer; set the URL of a node that does, or set it to an empty value to run without Solana',
};

function payTo({ pay_to_base: base, solana: configured }: Config, solana: OpenedSolana | null): PayTo {
  if (!configured || !solana) return { base };
  const { fee_payer } = solana;
  return { base, solana: configured.pay_to, ...(fee_payer !== null && { solana_fee_payer: fee_payer }) };
}

export interface OpenedRails {
  readonly rails: Rails;
  readonly pay_to: PayTo;
  readonly chain_head: ChainHead;
  /** Verifies payments to others, also on networks on which this service accepts no payments. */
  readonly transfers: ForeignTransfers;
  close(): Promise<void>;
}

/** Opens every network on which payments are accepted. @throws OtherChain, UnfinishedPayments */
export async function openConfiguredRails(parts: RailsParts): Promise<OpenedRails> {
  const { config, database, chain, chain_epoch, wallets, nano_work_min } = parts;
  const chain_head = new ChainHead(chain, systemClock);
  const settler = parts.openSettling(parts);
  const searches = new Semaphore(SEARCHES);
  const base = openBaseRail({
    database,
    chain,
    chain_head,
    chain_epoch,
    settler,
    searches,
    wallets,
    clock: systemClock,
    wallet_factories: factoriesOf(config),
    settles_from: settlesFrom(config),
  });
  const solana = await solanaOf(parts, searches);
  const rails = { base, solana: solana?.rail ?? null };
  await requireFinishable(database, rails);
  const transfers = await openForeignTransfers({ config, chain, wallets, nano_work_min });
  const close = async () => {
    await Promise.all([closeRails({ rails }), transfers.close()]);
  };
  return { rails, pay_to: payTo(config, solana), chain_head, transfers, close };
}
