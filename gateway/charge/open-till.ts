import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { limits } from '../../schema/limits.ts';
import { BlockedCalls } from '../../subgraphs/book/ledger/blocked-calls.ts';
import { systemClock, systemRandom } from '../../subgraphs/clock.ts';
import type { Database } from '../../subgraphs/database.ts';
import { transcriptionPaid } from '../../subgraphs/receipt/inference/audio/transcription.paid.ts';
import { completionPaid, completionStream } from '../../subgraphs/receipt/inference/completions/completion.paid.ts';
import { type Hubs } from '../../subgraphs/receipt/inference/hubs/open.ts';
import { imagePaid } from '../../subgraphs/receipt/inference/images/image.paid.ts';
import { responsePaid, responseStream } from '../../subgraphs/receipt/inference/responses/response.paid.ts';
import { quotePaid, taskPaid } from '../../subgraphs/receipt/inference/tasks/task.paid.ts';
import { type Issuer } from '../../subgraphs/receipt/issuer/keys.ts';
import { type KnownLog } from '../../subgraphs/receipt/log/known-log.ts';
import { type SavedHead } from '../../subgraphs/receipt/log/saved-head.ts';
import { Semaphore } from '../../subgraphs/semaphore.ts';
import { agentOfWallet } from '../../subgraphs/session/agent/find.ts';
import { type WalletProofs } from '../../subgraphs/session/context.ts';
import { registrationPaid } from '../../subgraphs/session/registration/registration.paid.ts';
import type { Vault } from '../../subgraphs/vault.ts';
import { ConfigFault } from '../config/fault.ts';
import type { Config } from '../config/read-config.ts';
import type { Faults } from '../operations/faults.ts';
import type { Hex } from '../rails/base/abi.ts';
import { openBaseRail } from '../rails/base/base-rail.ts';
import type { BaseChain } from '../rails/base/chain.ts';
import { ChainHead } from '../rails/base/chain-head.ts';
import { settledByFacilitator } from '../rails/base/facilitated.ts';
import { openSettler } from '../rails/base/settle/settler.ts';
import { settlerKey } from '../rails/base/settle/transaction.ts';
import { factoriesOf } from '../rails/base/signature.ts';
import { ChainAway } from '../rails/epoch.ts';
import { type Authorize, openAuthorize } from '../rails/facilitator/auth.ts';
import { openFacilitator } from '../rails/facilitator/client.ts';
import { type FacilitatorTimes, facilitatorDefaults, openFacilitatorSettler } from '../rails/facilitator/settler.ts';
import type { BasePayment } from '../rails/payment.ts';
import { type ClaimItem, commitSettling, type Settler, settlerDefaults } from '../rails/settler.ts';
import type { OpenedSolana } from '../rails/solana/open-solana.ts';
import type { Rates } from '../rates/rates.ts';
import { requireFinishable } from '../reconcile/require-finishable.ts';
import { openQueues } from '../record/queues.ts';
import { type AnyPaid, openRecorder } from '../record/recorder.ts';
import { openExtensions } from '../x402/extensions/open-extensions.ts';
import { openChallenges, type PayTo } from '../x402/offer.ts';
import { Failures } from './failures.ts';
import { KeyCalls } from './key-calls.ts';
import { Owed } from './release-later.ts';
import { StreamsInFlight } from './streams-in-flight.ts';
import type { Till } from './till.ts';

export interface TillParts {
  readonly config: Config;
  readonly database: Database;
  readonly chain: BaseChain;
  readonly chain_epoch: () => number;
  readonly wallets: WalletProofs;
  readonly hubs: Hubs;
  readonly issuer: Issuer;
  readonly vault: Vault;
  readonly saved_head: SavedHead;
  readonly known_log: KnownLog;
  readonly log: Till['log'];
  readonly rates: Pick<Rates, 'uncharged'>;
  readonly faults: Faults;
  readonly logger: Logger;
  readonly openSettling: OpenSettling;
  /** For so long a caller waits for a transaction on Solana. */
  readonly wait_ms?: number | undefined;
}

/** Opens the way to the chain; another one (an external facilitator, a bench without a chain) fits in its place. */
export type OpenSettling = (
  parts: Pick<TillParts, 'config' | 'database' | 'chain' | 'faults' | 'logger'>,
) => Settler<ClaimItem<BasePayment>>;

const POLL_MS_DEVELOPMENT = 20;
const SEARCHES = { at_once_max: 2, wait_ms_max: 10_000, waiting_per_asker_max: 32 };

/** Settles in this process, with the configured keys. */
const openOwnSettling = (
  { config, database, chain, faults, logger }: Parameters<OpenSettling>[0],
  wait_ms: number,
): Settler<ClaimItem<BasePayment>> =>
  openSettler<ClaimItem<BasePayment>>({
    ...settlerDefaults,
    wait_ms,
    chain,
    database,
    keys: config.facilitator_keys,
    clock: systemClock,
    random: systemRandom,
    fee_bounds: { fee_max_atomic: config.settle_fee_max, fee_day_max_atomic: config.settle_fee_day_max },
    eth_price: { given: config.eth_usd, profile: config.profile },
    // A development chain mines at once; on Base a block takes two seconds.
    poll_ms: config.profile === 'development' ? POLL_MS_DEVELOPMENT : settlerDefaults.poll_ms,
    faults,
    commitSettling,
    trouble: error => logger.warn({ err: error }, 'trouble while settling'),
  });

/** Settles by the configured facilitator; without one, in this process, where a caller waits for `wait_ms` at most. */
export const configuredSettling =
  (times: FacilitatorTimes = facilitatorDefaults, wait_ms: number = settlerDefaults.wait_ms): OpenSettling =>
  parts => {
    const { config, database, chain, faults, logger } = parts;
    if (config.facilitator_url === null) return openOwnSettling(parts, wait_ms);
    const { verify_ms, settle_ms, ...rest } = times;
    return openFacilitatorSettler<ClaimItem<BasePayment>, BasePayment>({
      ...rest,
      facilitator: openFacilitator({
        ...{ url: config.facilitator_url, network: 'base', verify_ms, settle_ms },
        authorize: authorizeBy(config),
      }),
      facilitated: settledByFacilitator(chain),
      database,
      random: systemRandom,
      faults,
      commitSettling,
      trouble: error => logger.warn({ err: error }, 'trouble with the facilitator'),
    });
  };

const authorizeBy = ({ facilitator_auth }: Pick<Config, 'facilitator_auth'>): Authorize =>
  openAuthorize(facilitator_auth, { clock: systemClock, random: systemRandom });

/** Everything that is sold, by field. A paid field that is missing here could be claimed and never be finished. */
function soldBy(hubs: Hubs, vault: Vault): ReadonlyMap<string, AnyPaid> {
  const registration = registrationPaid({ vault, random: systemRandom });
  const sold = [
    completionPaid(hubs),
    completionStream(hubs),
    responsePaid(hubs),
    responseStream(hubs),
    taskPaid(hubs),
    quotePaid(hubs),
    imagePaid(hubs),
    transcriptionPaid(hubs),
    registration,
  ] as unknown as AnyPaid[];
  return new Map(sold.map(paid => [paid.field, paid]));
}

/** Our first settler; where a facilitator settles with keys of its own, an address that is surely no contract's. */
function settlesFrom({ facilitator_keys: [key], pay_to_base }: Config): Hex {
  return key ? settlerKey(key).address : (pay_to_base as Hex);
}

/** Its libraries are large, and of no use to whoever does without it. */
async function solanaOf(
  { config, database, faults, logger, wait_ms }: TillParts,
  searches: Semaphore,
): Promise<OpenedSolana | null> {
  const { solana, profile, facilitator_url } = config;
  const authorize = authorizeBy(config);
  if (solana === null) return null;
  const { openSolanaPayments: openSolana } = await import('../rails/solana/open-solana.ts');
  const opened = openSolana({
    solana,
    profile,
    ...{ facilitator_url, authorize },
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

/** Without a look at its genesis nobody knows whose payments those would be. */
const solanaAway = {
  variable: 'SOLANA_RPC_URL',
  problem: 'does not answer; name a node that does, or set it to nothing to go without Solana',
};

function payTo({ pay_to_base: base, solana: configured }: Config, solana: OpenedSolana | null): PayTo {
  if (!configured || !solana) return { base };
  const { fee_payer } = solana;
  return { base, solana: configured.pay_to, ...(fee_payer !== null && { solana_fee_payer: fee_payer }) };
}

/** The till of this process: its own name, its queues, its way to the chain. @throws OtherChain, UnfinishedPayments */
export async function openTill(parts: TillParts): Promise<Till> {
  const { config, database, chain, chain_epoch, hubs, issuer, vault, saved_head, known_log, faults } = parts;
  const chain_head = new ChainHead(chain, systemClock);
  const searches = new Semaphore(SEARCHES);
  const { wallets } = parts;
  const asking = { wallets, wallet_factories: factoriesOf(config), settles_from: settlesFrom(config) };
  const reading = { database, chain, chain_head, chain_epoch, searches, clock: systemClock };
  const base = openBaseRail({ ...reading, ...asking, settler: parts.openSettling(parts) });
  const solana = await solanaOf(parts, searches);
  const rails = { base, solana: solana?.rail ?? null };
  await requireFinishable(database, rails);
  const pay_to = payTo(config, solana);
  const refuser = { issuer, random: systemRandom, profile: config.profile, anchor: () => chain_head.anchor() };
  const blocked_calls = new BlockedCalls();
  const queues = openQueues(database, openRecorder(issuer, vault.seal, known_log), { refuser, blocked_calls }, faults);
  return {
    database,
    queues,
    blocked_calls,
    owed: new Owed(),
    chain_head,
    rails,
    issuer,
    vault,
    saved_head,
    known_log,
    log: parts.log,
    clock: systemClock,
    random: systemRandom,
    faults,
    streams: new StreamsInFlight(),
    key_calls: new KeyCalls(limits.key_calls_underway_max),
    failures: new Failures(parts.rates.uncharged, systemClock),
    base_url: config.base_url,
    profile: config.profile,
    challenges: openChallenges(pay_to, openExtensions(issuer, systemClock)),
    pay_to,
    owner: randomUUID(),
    sold: soldBy(hubs, vault),
    agentOfWallet: wallet => agentOfWallet(database, wallet),
  };
}
