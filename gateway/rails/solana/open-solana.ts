import type { Logger } from 'pino';
import { networks } from '../../../schema/network.ts';
import type { Database } from '../../../subgraphs/database.ts';
import type { Semaphore } from '../../../subgraphs/semaphore.ts';
import type { SolanaConfig } from '../../config/solana.ts';
import { type EpochChain, OtherChain, openEpoch, requireAnswer } from '../epoch.ts';
import type { Authorize } from '../facilitator/auth.ts';
import { openFacilitator } from '../facilitator/client.ts';
import { facilitatorDefaults, openFacilitatorSettler } from '../facilitator/settler.ts';
import type { Rail } from '../rail.ts';
import { type ClaimItem, claimSettlerParts, type Settler, type SettlerFaults, settlerDefaults } from '../settler.ts';
import type { SolanaPayment } from './authorization.ts';
import type { SolanaChain } from './chain.ts';
import { solanaFacilitatorChain } from './facilitator-chain.ts';
import { openSvmChain } from './open-svm-chain.ts';
import { type FeePayer, openFeePayer, openSolanaSettler } from './settler.ts';
import { openSolanaRail } from './solana-rail.ts';
import { usdcAccountOf } from './transfer.ts';

export interface SolanaParts {
  readonly solana: SolanaConfig;
  /** URL of the facilitator, which settles with its own fee payer if it supports Solana. */
  readonly facilitator_url: string | null;
  readonly authorize: Authorize;
  readonly profile: 'development' | 'production';
  readonly database: Database;
  readonly faults: SettlerFaults | null;
  readonly logger: Logger;
  /** Maximum time that a caller waits for a transaction. */
  readonly wait_ms: number;
  readonly searches: Semaphore;
}

/** The rail, and the fee payer that payers must name. The fee payer is null if it is unknown; Solana is then not offered. */
export interface OpenedSolana {
  readonly rail: Rail<SolanaPayment>;
  readonly fee_payer: string | null;
}

interface OpenedSettler {
  readonly settler: Settler<ClaimItem<SolanaPayment>>;
  readonly fee_payer: string | null;
  readonly own: FeePayer | null;
}

/**
 * Opens Solana, settled by the facilitator or in this process; null if no fee payer is configured. @throws OtherChain, NoTreasury
 */
export async function openSolanaPayments(parts: SolanaParts): Promise<OpenedSolana | null> {
  const { solana, profile, database, searches } = parts;
  const chain = openSvmChain(solana);
  try {
    const settling = await openSettling(parts, chain);
    if (settling !== null) {
      const chain_epoch = await openEpoch(database, solanaEpochOf(chain), { profile });
      // The account is required in production only, because in development it is created later.
      if (profile === 'production') await requireTreasury(chain, solana.pay_to);
      const rail = openSolanaRail({ ...settling, database, chain, chain_epoch, searches, pay_to: solana.pay_to });
      return { rail, fee_payer: settling.fee_payer };
    }
  } catch (error) {
    await chain.close();
    throw error;
  }
  await chain.close();
  return null;
}

async function openSettling(parts: SolanaParts, chain: SolanaChain): Promise<OpenedSettler | null> {
  const { solana, facilitator_url } = parts;
  if (facilitator_url !== null) return openFacilitated(parts, chain, facilitator_url);
  return solana.fee_payer_key === null ? null : openOwn(parts, chain, openFeePayer(solana.fee_payer_key));
}

function openOwn(parts: SolanaParts, chain: SolanaChain, own: FeePayer): OpenedSettler {
  const settler = openSolanaSettler<ClaimItem<SolanaPayment>>({
    ...claimSettlerParts(parts, 'a settlement on Solana failed'),
    ...settlerDefaults,
    wait_ms: parts.wait_ms,
    chain,
    fee_payer: own,
  });
  return { settler, own, fee_payer: own.address };
}

/**
 * Opens a settler that uses the facilitator. Its fee payer is part of our offers: if it names none now, Solana is not offered until
 * the next start. Earlier payments are still followed and delivered.
 */
async function openFacilitated(parts: SolanaParts, chain: SolanaChain, url: string): Promise<OpenedSettler> {
  const { logger, authorize } = parts;
  const { verify_ms, settle_ms, ...rest } = facilitatorDefaults;
  const facilitator = openFacilitator({ url, network: 'solana', verify_ms, settle_ms, authorize });
  const named = await facilitator.feePayer();
  const fee_payer = named === 'unreachable' ? null : named.address;
  if (fee_payer === null)
    logger.warn(
      { facilitator: named },
      'the facilitator cannot be reached or names no fee payer on Solana, so payments on Solana are not offered until this process is restarted',
    );
  const settler = openFacilitatorSettler<ClaimItem<SolanaPayment>, SolanaPayment>({
    ...claimSettlerParts(parts, 'a request to the facilitator failed'),
    ...rest,
    facilitator,
    facilitated: solanaFacilitatorChain(chain),
  });
  return { settler, own: null, fee_payer };
}

/** Prefix of Solana's genesis hash: CAIP-2 names a Solana network by its first 32 characters. */
const GENESIS = networks.solana.caip2.slice('solana:'.length);

/** Queries by which Solana is distinguished from other chains, only by its genesis hash. */
export function solanaEpochOf(chain: Pick<SolanaChain, 'genesisHash'>): EpochChain {
  const genesis = async () => requireAnswer(await chain.genesisHash());
  return {
    network: 'solana',
    blockHash: async number => (number === 0 ? genesis() : null),
    finalized: async () => null,
    async requireOurs(profile) {
      // A development chain replaces the real one, and its genesis hash differs.
      if (profile === 'development') return;
      const hash = await genesis();
      if (!hash.startsWith(GENESIS))
        throw new OtherChain(
          `SOLANA_RPC_URL is a node of another chain: its genesis hash is ${hash}, and that of Solana mainnet starts with ${GENESIS}`,
        );
    },
  };
}

export class NoTreasury extends Error {
  override name = 'NoTreasury';
}

/**
 * Checks that the treasury has a USDC account. A transfer creates no account, so without one every payment would fail. An account
 * whose owner was changed is not ours. @throws NoTreasury; also throws if the chain is unreachable
 */
export async function requireTreasury(chain: Pick<SolanaChain, 'holding'>, pay_to: string): Promise<void> {
  const account = await usdcAccountOf(pay_to);
  const { value: holding } = requireAnswer(await chain.holding(account));
  if (holding?.owner !== pay_to)
    throw new NoTreasury(`PAY_TO_SOLANA (${pay_to}) has no associated USDC account at ${account}; create it first`);
}
